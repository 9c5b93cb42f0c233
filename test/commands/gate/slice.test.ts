import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { factsOf, type Statement } from '../../../src/receipt/statement.ts';
import { artifactText } from '../../../src/subject.ts';
import { commit, trusted } from '../../receipt/table.ts';
import { epoch } from '../../slice/machine.ts';
import type { Course } from '../../slice/service.ts';
import { openShell, type Shell, versionPage } from '../../slice/shell.ts';

const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--slice', '45s', '--json'] as const;
const hour = 3_600_000;

let shell: Shell;
/** The commit that git knows. */
let head: string;
function open(end: Course['end'] = 'failed') {
  shell = openShell({ end, seconds: 60 }, { versions: [[0, 'x']] });
  head = commit;
  shell.settings.captured = (command) => (command.includes('rev-parse') ? `${head}\n` : null);
  shell.on.files['ci.pub'] = trusted.publicPem;
  shell.env.RUNGATE_RECEIPT_KEY = trusted.privatePem;
}
const created = () => shell.service.runs.length;
const run = (argv: readonly string[] = gate) => shell.call(['rungate', ...argv]);
/** Runs the first slice. Returns the command that goes on. */
async function first(...argv: readonly string[]): Promise<string[]> {
  const { code, out, err } = await run(argv);
  expect([code, err]).toEqual([75, expect.any(String)]);
  return JSON.parse(out).next.slice(1);
}
const statementIn = (path: string): Statement =>
  JSON.parse(Buffer.from(JSON.parse(String(shell.on.files[path])).payload, 'base64').toString());

it.each([
  ['refuses the credential', 403, 6],
  ['does not know the run', 404, 5],
] as const)('looks for the same run again, after a service that %s', async (_what, status, code) => {
  open();
  shell.faults.reads = status;
  let ended = await run();
  for (let count = 0; ended.code === 75 && count < 9; count += 1) ended = await run();
  expect(ended.code).toBe(code);
  shell.faults.reads = null;
  await shell.pause(60_000);
  const { code: verdict, err } = await run();
  expect([verdict, created()]).toEqual([1, 1]);
  expect(err).toMatch(/^continuing run_/);
});

it('starts a new run after a verdict has been reported', async () => {
  open();
  const next = await first(...gate);
  expect([(await run(next)).code, (await run()).code, created()]).toEqual([1, 75, 2]);
});

describe('a secret', () => {
  it('is refused in an option, since it would be stored', async () => {
    open();
    for (const page of ['https://ci.example.test/?key=key-of-user', 'https://me:word@ci.example.test/']) {
      const { code, err } = await run([...gate, '--external-url', page]);
      expect([code, err]).toEqual([64, expect.stringMatching(/--external-url contains a secret/)]);
    }
    expect(created()).toBe(0);
  });

  it('in a URL of the project file is read again, and not stored', async () => {
    open();
    const deployed = { url: `${versionPage}?key=word-of-page`, is: 'x' };
    const project = { project: 'shop', process: 'checkout', deployed };
    shell.on.files['/repo/.rungate.json'] = JSON.stringify(project);
    const next = await first('gate', '--slice', '45s', '--json');
    const stored = shell.on.state() ?? '';
    expect(stored).toContain(shell.service.runs[0]?.id);
    for (const secret of ['word-of-page', 'key-of-user']) expect(stored).not.toContain(secret);
    expect((await run(next)).code).toBe(1);
  });
});

describe('the subjects of a gate', () => {
  const digestOf = (content: string) => createHash('sha256').update(content).digest('hex');
  const subject = `shop@sha256:${digestOf('image')}`;
  const receipt = ['--receipt', 'receipt.json', '--commit-sha', commit] as const;
  const subjects = () =>
    statementIn('receipt.json')
      .subject.slice(1)
      .map((one) => artifactText(one as never));

  it('stay those of the first slice, although a file changes', async () => {
    open();
    shell.on.files['app.tgz'] = 'first';
    const next = await first(...gate, ...receipt, '--subject', subject, '--subject-file', 'app.tgz');
    shell.on.files['app.tgz'] = 'second';
    expect((await run(next)).code).toBe(1);
    expect(subjects()).toEqual([subject, `app.tgz@sha256:${digestOf('first')}`]);
  });

  it('are those of the gate that the same command joins, not of one for another image', async () => {
    open();
    const page = [...gate, ...receipt, '--subject'];
    await first(...page, subject);
    await first(...page, subject.replace('shop', 'other'));
    expect(created()).toBe(2);
    expect((await run([...page, subject])).code).toBe(1);
    expect(subjects()).toEqual([subject]);
    expect(created()).toBe(2);
  });
});

it.each([
  [['--new'], /--new has no effect without --slice/],
  [
    ['--slice', '45s', '--deployed-url', 'https://a.example/?token=1', '--deployed-is', 'x'],
    /--deployed-url contains .* query/,
  ],
  [['--slice', '2s', '--api-url', 'https://a.example'], /--slice is too short: 2 s/],
])('refuses %j before anything is sent', async (words, message) => {
  open();
  const { code, err } = await run(['gate', '--project', 'shop', '--process', 'checkout', ...words]);
  expect([code, err]).toEqual([64, expect.stringMatching(message)]);
  expect(created()).toBe(0);
});

describe('a file that becomes read-only while a gate goes on in slices', () => {
  const files = ['--junit', '/repo/junit.xml', '--receipt', '/repo/receipt.json', '--commit-sha', commit];

  it('is a warning in the slices after the first one, and the gate ends with its verdict', async () => {
    open();
    const next = await first(...gate, ...files);
    shell.settings.readOnly = ['/repo/junit.xml', '/repo/receipt.json'];
    const last = await run(next);
    expect(last.code).toBe(1);
    for (const what of ['report /repo/junit.xml', 'receipt /repo/receipt.json'])
      expect(last.err).toContain(`warning: the ${what} cannot be written: EROFS`);
  });

  it('is refused in each command until the run is created', async () => {
    open();
    shell.settings.readOnly = ['/repo/junit.xml'];
    for (const _again of [1, 2]) expect((await run([...gate, ...files])).code).toBe(78);
    expect(created()).toBe(0);
  });
});

describe('the receipt of a gate in slices', () => {
  const verify = (maxAge: string) =>
    run(['receipt', 'verify', 'r.json', '--key', 'ci.pub', '--commit', commit, '--max-age', maxAge]);

  it('has the time of the verdict, not of the command that asks for it again a day later', async () => {
    open('passed');
    const next = await first(...gate, '--receipt', 'r.json');
    expect((await run(next)).code).toBe(0);
    const written = factsOf(statementIn('r.json'));
    await shell.pause(20 * hour);
    const { code, out } = await run(next);
    expect(code).toBe(0);
    expect(factsOf(statementIn('r.json'))).toEqual(written);
    expect((await verify('1h')).code).toBe(1);
    expect((await verify('21h')).code).toBe(0);
    expect(JSON.parse(out).runs[0]).toMatchObject({
      endedAt: written.finishedAt,
      elapsedSeconds: (Date.parse(written.finishedAt) - Date.parse(written.startedAt)) / 1000,
    });
  });

  it('has at most the end of the timeout as its time, if nobody saw the run end before', async () => {
    open('passed');
    const next = await first(...gate, '--receipt', 'r.json', '--timeout', '30m');
    const limit = epoch + shell.on.now() + hour / 2;
    await shell.pause(20 * hour);
    expect((await run(next)).code).toBe(0);
    expect(Date.parse(factsOf(statementIn('r.json')).finishedAt)).toBeLessThanOrEqual(limit);
    expect((await verify('1h')).code).toBe(1);
  });

  const newer = '1'.repeat(40);
  it.each([
    ['git', {}, {}],
    [
      'GitLab',
      { GITLAB_CI: 'true', CI_COMMIT_SHA: commit, CI_PIPELINE_ID: '1', CI_JOB_ID: '1' },
      { CI_COMMIT_SHA: newer },
    ],
  ])('has the commit of the first slice, although %s has a newer one', async (_where, env, later) => {
    open('passed');
    Object.assign(shell.env, env);
    const next = await first(...gate, '--receipt', 'r.json');
    head = newer;
    Object.assign(shell.env, later);
    expect((await run(next)).code).toBe(0);
    expect(statementIn('r.json').subject[0].digest.gitCommit).toBe(commit);
  });
});
