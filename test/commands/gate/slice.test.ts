import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { factsOf, type Statement } from '../../../src/receipt/statement.ts';
import { artifactText } from '../../../src/subject.ts';
import { asked, type Settings, type Stage, stage } from '../../cli/harness.ts';
import { commit, trusted } from '../../receipt/table.ts';

const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--slice', '45s', '--json'] as const;
const hour = 3_600_000;

let on: Stage;
let world: Settings & { env: Record<string, string>; files: Record<string, string> };
/** A slice ends after that many status reads: a fake clock does not wait. */
let readsOfSlice: number;
/** The commit that git knows. */
let head: string;
async function open(options: Parameters<typeof stage>[0]) {
  on = await stage({ outcome: 'failed', duration: 60_000, ...options });
  readsOfSlice = Number.POSITIVE_INFINITY;
  head = commit;
  world = {
    cwd: '/repo',
    files: { '/repo/.git': '', 'ci.pub': trusted.publicPem },
    env: {
      RUNGATE_CONFIG_DIR: mkdtempSync(join(tmpdir(), 'slices-')),
      RUNGATE_RECEIPT_KEY: trusted.privatePem,
    },
    captured: (command) => (command.includes('rev-parse') ? `${head}\n` : null),
    clock: {
      ...on.clock,
      sleep: (ms, signal) => (ms === 45_000 ? slice(signal) : on.clock.sleep(ms, signal)),
    },
  };
}
beforeEach(() => open({}));
afterEach(() => on.close());

const created = () => asked(on.mock).filter((endpoint) => endpoint === 'run.trigger').length;
const reads = () => asked(on.mock).filter((endpoint) => endpoint === 'run.status').length;

async function slice(signal: AbortSignal | undefined): Promise<void> {
  const end = reads() + readsOfSlice;
  while (reads() < end) {
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
}

const run = (argv: readonly string[] = gate) => on.with(world)(...argv);
/** Runs a slice that ends after one read. Returns the command that goes on, which has the time to end. */
async function first(...argv: readonly string[]): Promise<string[]> {
  readsOfSlice = 1;
  const { code, out, err } = await run(argv);
  readsOfSlice = Number.POSITIVE_INFINITY;
  expect([code, err]).toEqual([75, expect.any(String)]);
  return JSON.parse(out).next.slice(1);
}
const statementIn = (path: string): Statement =>
  JSON.parse(Buffer.from(JSON.parse(world.files[path] ?? '').payload, 'base64').toString());

describe('a gate whose run could not be observed', () => {
  it.each([
    ['refuses the credential', 403, 6],
    ['does not know the run', 404, 5],
  ])('looks for the same run again, after a service that %s', async (_what, status, code) => {
    on.mock.faults.add({ kind: 'status', status, endpoint: 'run.status', times: 9 });
    expect((await run()).code).toBe(code);
    on.mock.faults.clear();
    const { code: verdict, err } = await run();
    expect([verdict, created()]).toEqual([1, 1]);
    expect(err).toMatch(/^continuing run_/);
  });
});

it('starts a new run after a verdict has been reported', async () => {
  expect((await run()).code).toBe(1);
  expect((await run()).code).toBe(1);
  expect(created()).toBe(2);
});

describe('the command that goes on', () => {
  it('gives the same verdict again after the end, without a new run', async () => {
    const next = await first(...gate);
    for (const _again of [1, 2]) expect((await run(next)).code).toBe(1);
    expect(created()).toBe(1);
  });

  it('is refused with a secret in an option, since it would be stored', async () => {
    for (const page of [
      `https://ci.example.test/?key=${on.mock.apiKey}`,
      'https://me:word@ci.example.test/',
    ]) {
      const { code, err } = await run([...gate, '--external-url', page]);
      expect([code, err]).toEqual([64, expect.stringMatching(/--external-url contains a secret/)]);
    }
    expect(created()).toBe(0);
  });

  it('reads a secret in a URL of the project file again, and does not store it', async () => {
    await on.close();
    await open({ deployed: 'x' });
    const deployed = { url: `${on.mock.url}/_mock/version?key=word-of-page`, is: 'x' };
    const project = { project: 'shop', process: 'checkout', deployed };
    world.files['/repo/.rungate.json'] = JSON.stringify(project);
    const next = await first('gate', '--slice', '45s', '--json');
    const stored = readFileSync(join(world.env.RUNGATE_CONFIG_DIR ?? '', 'slices.json'), 'utf8');
    expect(stored).toContain([...on.mock.state.runs.keys()][0]);
    for (const secret of ['word-of-page', on.mock.apiKey, on.mock.token])
      expect(stored).not.toContain(secret);
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
    world.files['app.tgz'] = 'first';
    const next = await first(...gate, ...receipt, '--subject', subject, '--subject-file', 'app.tgz');
    world.files['app.tgz'] = 'second';
    expect((await run(next)).code).toBe(1);
    expect(subjects()).toEqual([subject, `app.tgz@sha256:${digestOf('first')}`]);
  });

  it('are those of the gate that the same command joins, not of one for another image', async () => {
    const page = [...gate, ...receipt, '--subject'];
    await first(...page, subject);
    await run([...page, subject.replace('shop', 'other')]);
    expect(created()).toBe(2);
    await run([...page, subject]);
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
  const { code, err } = await run(['gate', '--project', 'shop', '--process', 'checkout', ...words]);
  expect([code, err]).toEqual([64, expect.stringMatching(message)]);
  expect(created()).toBe(0);
});

describe('a file that becomes read-only while a gate goes on in slices', () => {
  const files = ['--junit', '/repo/junit.xml', '--receipt', '/repo/receipt.json', '--commit-sha', commit];

  it('is a warning in the slices after the first one, and the gate ends with its verdict', async () => {
    const next = await first(...gate, ...files);
    world.readOnly = ['/repo/junit.xml', '/repo/receipt.json'];
    const last = await run(next);
    expect(last.code).toBe(1);
    for (const what of ['report /repo/junit.xml', 'receipt /repo/receipt.json'])
      expect(last.err).toContain(`warning: the ${what} cannot be written: EROFS`);
  });

  it('is refused in each command until the run is created', async () => {
    world.readOnly = ['/repo/junit.xml'];
    for (const _again of [1, 2]) expect((await run([...gate, ...files])).code).toBe(78);
    expect(created()).toBe(0);
  });
});

describe('the receipt of a gate in slices', () => {
  beforeEach(async () => {
    await on.close();
    await open({ outcome: 'passed' });
  });
  const verify = (maxAge: string) =>
    run(['receipt', 'verify', 'r.json', '--key', 'ci.pub', '--commit', commit, '--max-age', maxAge]);

  it('has the time of the verdict, not of the command that asks for it again a day later', async () => {
    const next = await first(...gate, '--receipt', 'r.json');
    expect((await run(next)).code).toBe(0);
    const written = factsOf(statementIn('r.json'));
    expect(written.finishedAt).toBe(new Date(on.clock.now()).toISOString());
    await on.clock.sleep(20 * hour);
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
    const next = await first(...gate, '--receipt', 'r.json', '--timeout', '30m');
    const limit = on.clock.now() + hour / 2;
    await on.clock.sleep(20 * hour);
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
    Object.assign(world.env, env);
    const next = await first(...gate, '--receipt', 'r.json');
    head = newer;
    Object.assign(world.env, later);
    expect((await run(next)).code).toBe(0);
    expect(statementIn('r.json').subject[0].digest.gitCommit).toBe(commit);
  });
});
