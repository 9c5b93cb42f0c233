import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { factsOf, type Statement } from '../../../src/receipt/statement.ts';
import { asked, type Settings, type Stage, stage } from '../../cli/harness.ts';
import { commit, trusted } from '../../receipt/table.ts';

const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--slice', '45s', '--json'] as const;
const newer = '1'.repeat(40);
const hour = 3_600_000;

let on: Stage;
let files: Record<string, string>;
let world: Settings & { env: Record<string, string> };
/** A slice ends after that many status reads: a fake clock does not wait. */
let readsOfSlice: number;
/** The commit that git knows. */
let head: string;
async function open(options: Parameters<typeof stage>[0]) {
  on = await stage(options);
  readsOfSlice = 1;
  head = commit;
  files = { '/repo/.git': '', 'ci.pub': trusted.publicPem };
  const env = {
    RUNGATE_CONFIG_DIR: mkdtempSync(join(tmpdir(), 'slices-')),
    RUNGATE_RECEIPT_KEY: trusted.privatePem,
  };
  const captured = (command: readonly string[]) => (command.includes('rev-parse') ? `${head}\n` : null);
  world = { cwd: '/repo', files, env, captured };
  world.clock = {
    ...on.clock,
    sleep: (ms, signal) => (ms === 45_000 ? slice(signal) : on.clock.sleep(ms, signal)),
  };
}
beforeEach(() => open({ outcome: 'passed', duration: 60_000 }));
afterEach(() => on.close());

const reads = () => asked(on.mock).filter((endpoint) => endpoint === 'run.status').length;
async function slice(signal: AbortSignal | undefined): Promise<void> {
  const end = reads() + readsOfSlice;
  while (reads() < end) {
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
}

const run = (...argv: readonly string[]) => on.with(world)(...argv);
/** Runs the first slice. Returns the command that goes on. */
async function first(...argv: readonly string[]): Promise<string[]> {
  const { code, out, err } = await run(...argv);
  expect([code, err]).toEqual([75, expect.any(String)]);
  return JSON.parse(out).next.slice(1);
}
function statementIn(path = 'r.json'): Statement {
  return JSON.parse(Buffer.from(JSON.parse(files[path] ?? '').payload, 'base64').toString());
}
const verify = (maxAge: string, path = 'r.json') =>
  run('receipt', 'verify', path, '--key', 'ci.pub', '--commit', commit, '--max-age', maxAge);

describe('the time in the receipt of a gate in slices', () => {
  it('is that of the verdict, not of the command that asks for it again a day later', async () => {
    const next = await first(...gate, '--receipt', 'r.json');
    readsOfSlice = Number.POSITIVE_INFINITY;
    expect((await run(...next)).code).toBe(0);
    const written = factsOf(statementIn());
    expect(written.finishedAt).toBe(new Date(on.clock.now()).toISOString());
    await on.clock.sleep(20 * hour);
    const { code, out } = await run(...next);
    expect(code).toBe(0);
    expect(factsOf(statementIn())).toEqual(written);
    expect((await verify('1h')).code).toBe(1);
    expect((await verify('21h')).code).toBe(0);
    expect(JSON.parse(out).runs[0]).toMatchObject({
      endedAt: written.finishedAt,
      elapsedSeconds: (Date.parse(written.finishedAt) - Date.parse(written.startedAt)) / 1000,
    });
  });

  it('is at most the end of the timeout, if nobody saw the run end before', async () => {
    const next = await first(...gate, '--receipt', 'r.json', '--timeout', '30m');
    const limit = on.clock.now() + hour / 2;
    await on.clock.sleep(20 * hour);
    readsOfSlice = Number.POSITIVE_INFINITY;
    expect((await run(...next)).code).toBe(0);
    expect(Date.parse(factsOf(statementIn()).finishedAt)).toBeLessThanOrEqual(limit);
    expect((await verify('1h')).code).toBe(1);
  });
});

describe('the commit in the receipt of a gate in slices', () => {
  it.each([
    ['git', {}, {}],
    [
      'GitLab',
      { GITLAB_CI: 'true', CI_COMMIT_SHA: commit, CI_PIPELINE_ID: '1', CI_JOB_ID: '1' },
      { CI_COMMIT_SHA: newer },
    ],
  ])('is that of the first slice, although %s has a newer one', async (_where, env, later) => {
    Object.assign(world.env, env);
    const next = await first(...gate, '--receipt', 'r.json');
    head = newer;
    Object.assign(world.env, later);
    readsOfSlice = Number.POSITIVE_INFINITY;
    expect((await run(...next)).code).toBe(0);
    expect(statementIn().subject[0].digest.gitCommit).toBe(commit);
  });
});
