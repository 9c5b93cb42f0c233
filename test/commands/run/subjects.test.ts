import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/server.ts';
import { type Artifact, artifactText } from '../../../src/subject.ts';
import { type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { commit, trusted } from '../../receipt/table.ts';

let on: Stage;
afterEach(() => on.close());

const hashed = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
const hex = hashed('image');
const image = `ghcr.io:443/acme/shop:1.2@sha256:${hex}`;
const commands = {
  gate: ['gate', '--project', 'shop', '--process', 'checkout', '--commit-sha', commit],
  'run trigger': [...trigger, '--wait', '--commit-sha', commit],
  'run wait': ['run', 'wait', 'run_1'],
} as const;
const receipt = ['--receipt', 'receipt.json'] as const;
const gate = [...commands.gate, ...receipt];

/** Runs a command. Returns its result, the files and the subjects of the receipt. */
async function run(argv: readonly string[], settings: Settings = {}, options: MockOptions = {}) {
  on = await stage({ outcome: 'passed', ...options });
  const files: Record<string, string | Uint8Array> = settings.files ?? {};
  const captured = (command: readonly string[]) => (command.includes('rev-parse') ? `${commit}\n` : null);
  const env = { RUNGATE_RECEIPT_KEY: trusted.privatePem, ...settings.env };
  const result = await on.with({ captured, ...settings, files, env })(...argv);
  return { ...result, files, subjects: subjectsIn(files['receipt.json']) };
}

function subjectsIn(file: string | Uint8Array | undefined): string[] | null {
  if (file === undefined) return null;
  const { payload } = JSON.parse(String(file));
  const [, ...artifacts] = JSON.parse(Buffer.from(payload, 'base64').toString()).subject;
  return artifacts.map((artifact: Artifact) => artifactText(artifact));
}

describe('the subjects of a receipt', () => {
  it('are the images, with port and tag, and then the files by their base names, in order', async () => {
    const files = { 'dist/app.tgz': 'app', '/tmp/empty': '' };
    const more = ['--subject-file', 'dist/app.tgz', '--subject', image, '--subject-file', '/tmp/empty'];
    const { code, subjects } = await run([...gate, ...more, '--subject', `b@SHA256:${hex}`], { files });
    expect(code).toBe(0);
    expect(subjects).toEqual([
      image,
      `b@sha256:${hex}`,
      `app.tgz@sha256:${hashed('app')}`,
      `empty@sha256:${hashed('')}`,
    ]);
  });

  it('do not contain a secret in their names, nor do messages', async () => {
    const secret = 'hidden-0123456789';
    const env = { RUNGATE_API_KEY: secret };
    const files = { [`${secret}.tgz`]: 'app' };
    const argv = [...gate, '--subject', `${secret}@sha256:${hex}`, '--subject-file', `${secret}.tgz`];
    const { subjects, out, err } = await run(argv, { files, env }, { apiKey: secret });
    expect(subjects).toEqual([`***@sha256:${hex}`, `***.tgz@sha256:${hashed('app')}`]);
    expect(out + err).not.toContain(secret);
    await on.close();
    const twice = [...argv, '--subject', `${secret}.tgz@sha256:${hex}`];
    const refused = await run(twice, { files: { [`${secret}.tgz`]: 'app' }, env });
    expect([refused.code, refused.err]).toEqual([64, expect.stringContaining('"***.tgz"')]);
  });
});

it('a re-run of the job joins the run of the same image, and starts its own one for another', async () => {
  on = await stage({ outcome: 'passed', duration: 60_000 });
  const job = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '77', GITHUB_JOB: 'gate', RUNNER_TEMP: '/none' };
  const runOf = async (attempt: string, subject: string, timeout: string) => {
    const env = { ...job, RUNGATE_RECEIPT_KEY: trusted.privatePem, GITHUB_RUN_ATTEMPT: attempt };
    const argv = [...gate, '--subject', subject, '--timeout', timeout, '--json'];
    const { code, out } = await on.with({ files: {}, env })(...argv);
    return [code, JSON.parse(out).runs[0].runId];
  };
  const [code, first] = await runOf('1', image, '10s');
  expect(code).toBe(3);
  expect(await runOf('2', image, '10s')).toEqual([3, first]);
  const [, other] = await runOf('3', image.replace('shop', 'other'), '10s');
  expect(other).not.toBe(first);
});

describe.each(Object.entries(commands))('%s', (_name, argv) => {
  const app = `app.tgz@sha256:${hex}`;
  it.each([
    [
      'the same name twice',
      [...receipt, '--subject', app, '--subject', app],
      /^error: --subject: two subjects have the same name\n {2}→ give each a name that differs/,
    ],
    [
      'a tag',
      [...receipt, '--subject', 'shop:1.2'],
      /^error: --subject: expected <name>@sha256:<64 hex digits>\n {2}→ give the digest of the image/,
    ],
    [
      'a file that is missing',
      [...receipt, '--subject-file', 'no.tgz'],
      /^error: --subject-file: cannot read no\.tgz: no such file\n/,
    ],
    [
      'a name with a control character',
      [...receipt, '--subject-file', 'a\u001b[31m.tgz'],
      /^error: --subject-file: .*\n {2}→ write one path or name/,
    ],
    [
      '--subject that nothing uses',
      ['--subject', app],
      /^error: --subject has no effect: no receipt is written/,
    ],
  ])('refuses %s before anything is sent', async (_what, flags, message) => {
    const files = { 'app.tgz': 'app', 'dist/a': '', 'a\u001b[31m.tgz': '' };
    const { code, err, subjects } = await run([...argv, ...flags], { files });
    expect([code, err, subjects]).toEqual([64, expect.stringMatching(message), null]);
    expect(err).not.toContain('\u001b');
    expect(on.mock.requests).toHaveLength(0);
  });
});

it.each([[], ['--no-wait']])('run trigger without --wait refuses subjects, with %j', async (...no) => {
  const argv = [...trigger, '--subject', image, '--subject-file', 'app.tgz', ...no];
  const { code, err } = await run(argv, { files: { 'app.tgz': '' } });
  expect([code, err]).toEqual([
    64,
    expect.stringMatching(/^error: --subject and --subject-file have no effect/),
  ]);
  expect(on.mock.requests).toHaveLength(0);
});
