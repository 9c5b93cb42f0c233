import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { artifactText } from '../../../src/subject.ts';
import { asked, type Settings, type Stage, stage } from '../../cli/harness.ts';
import { commit } from '../../receipt/table.ts';

const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--slice', '45s', '--json'] as const;

let on: Stage;
let world: Settings & { env: Record<string, string> };
/** A slice ends after that many status reads: a fake clock does not wait. */
let readsOfSlice: number;
/** It also ends after that many requests that create a run. */
let createsOfSlice: number;
beforeEach(async () => {
  on = await stage({ outcome: 'failed', duration: 60_000 });
  readsOfSlice = Number.POSITIVE_INFINITY;
  createsOfSlice = Number.POSITIVE_INFINITY;
  const state = mkdtempSync(join(tmpdir(), 'slices-'));
  world = { cwd: '/repo', files: { '/repo/.git': '' }, env: { RUNGATE_CONFIG_DIR: state } };
  world.clock = {
    ...on.clock,
    sleep: (ms, signal) => (ms === 45_000 ? slice(signal) : on.clock.sleep(ms, signal)),
  };
});
afterEach(() => on.close());

const created = () => asked(on.mock).filter((endpoint) => endpoint === 'run.trigger').length;
const reads = () => asked(on.mock).filter((endpoint) => endpoint === 'run.status').length;

async function slice(signal: AbortSignal | undefined): Promise<void> {
  const end = reads() + readsOfSlice;
  while (reads() < end && created() < createsOfSlice) {
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
}

const run = (argv: readonly string[] = gate) => on.with(world)(...argv);
const resumed = (out: string): string[] => JSON.parse(out).next.slice(1);

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
    readsOfSlice = 1;
    const { out } = await run();
    readsOfSlice = Number.POSITIVE_INFINITY;
    for (const _again of [1, 2]) expect((await run(resumed(out))).code).toBe(1);
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
    on = await stage({ outcome: 'failed', duration: 60_000, deployed: 'x' });
    world.clock = { ...on.clock, sleep: world.clock?.sleep ?? on.clock.sleep };
    readsOfSlice = 1;
    const deployed = { url: `${on.mock.url}/_mock/version?key=word-of-page`, is: 'x' };
    const project = { project: 'shop', process: 'checkout', deployed };
    Object.assign(world.files ?? {}, { '/repo/.rungate.json': JSON.stringify(project) });
    const { code, out } = await run(['gate', '--slice', '45s', '--json']);
    expect(code).toBe(75);
    const stored = readFileSync(join(world.env.RUNGATE_CONFIG_DIR ?? '', 'slices.json'), 'utf8');
    expect(stored).toContain(JSON.parse(out).runs[0].runId);
    for (const secret of ['word-of-page', on.mock.apiKey, on.mock.token])
      expect(stored).not.toContain(secret);
    readsOfSlice = Number.POSITIVE_INFINITY;
    expect((await run(resumed(out))).code).toBe(1);
  });
});

describe('the subjects of a gate', () => {
  const digestOf = (content: string) => createHash('sha256').update(content).digest('hex');
  const subject = `shop@sha256:${digestOf('image')}`;
  const receipt = ['--receipt', 'receipt.json', '--commit-sha', commit] as const;
  const subjects = () =>
    JSON.parse(world.files?.['receipt.json'] as string)
      .subject.slice(1)
      .map(artifactText);

  it('stay those of the first slice, although a file changes', async () => {
    readsOfSlice = 1;
    Object.assign(world.files ?? {}, { 'app.tgz': 'first' });
    const { out } = await run([...gate, ...receipt, '--subject', subject, '--subject-file', 'app.tgz']);
    Object.assign(world.files ?? {}, { 'app.tgz': 'second' });
    readsOfSlice = Number.POSITIVE_INFINITY;
    expect((await run(resumed(out))).code).toBe(1);
    expect(subjects()).toEqual([subject, `app.tgz@sha256:${digestOf('first')}`]);
  });

  it('are those of the gate that the same command joins, not of one for another image', async () => {
    readsOfSlice = 1;
    const page = [...gate, ...receipt, '--subject'];
    await run([...page, subject]);
    readsOfSlice = Number.POSITIVE_INFINITY;
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
    readsOfSlice = 2;
    const { code, out } = await run([...gate, ...files]);
    expect(code).toBe(75);
    readsOfSlice = Number.POSITIVE_INFINITY;
    world.readOnly = ['/repo/junit.xml', '/repo/receipt.json'];
    const last = await run(resumed(out));
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
