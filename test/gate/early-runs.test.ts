import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { CiContext } from '../../src/ci/context.ts';
import { planKeys } from '../../src/ci/idempotency.ts';
import { detectCi } from '../../src/ci/provider.ts';
import type { Exchange } from '../../src/client/caller.ts';
import { HttpError, NetworkError } from '../../src/errors.ts';
import type { Emit } from '../../src/gate/events.ts';
import { unnamed } from '../../src/gate/plan/plan.ts';
import { type PolicySource, resolvePolicy, verdictOf } from '../../src/gate/policy.ts';
import { decidingRuns } from '../../src/gate/report.ts';
import { runWithRetries } from '../../src/gate/retries.ts';
import type { RunService } from '../../src/gate/service.ts';
import { emitTo, journalReporter } from '../../src/library/reporter.ts';
import { redactNothing } from '../../src/redact.ts';
import { fakeClock } from '../fake-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'rungate-early-'));
afterAll(() => rmSync(folder, { recursive: true }));

const pipeline = { runId: '7', job: 'gate' };
/** The facts that each kind of CI gives about a job, and about its re-run. */
const kinds = {
  'attempt number': { first: { attempt: 1 }, again: { attempt: 2 } },
  'job number': { first: { jobId: '41' }, again: { jobId: '42' } },
  'new pipeline': { first: { attempt: 1 }, again: { attempt: 1, runId: '8' } },
  neither: { first: {}, again: {} },
} satisfies Record<string, Record<'first' | 'again', Partial<CiContext>>>;
type Kind = keyof typeof kinds;

const results = {
  failed: { state: 'completed', failed: 2, blocked: 0 },
  blocked: { state: 'completed', failed: 0, blocked: 1 },
  passed: { state: 'completed', failed: 0, blocked: 0 },
  cancelled: { state: 'cancelled', failed: 0, blocked: 0 },
} as const;
type Result = keyof typeof results;

const firstReads = ['clear', '429', '503', '404', 'stalled', 'unknown state'] as const;
type FirstRead = (typeof firstReads)[number];

const policies = {
  default: {},
  '--strict': { strict: true },
  'failed=warn': { on: { failed: 'warn' } },
} satisfies Record<string, PolicySource>;

/** A service whose runs end at once, and which does not say that it repeats a response. */
function fastService() {
  const clock = fakeClock();
  const runs: { id: string; key: string; result: Result }[] = [];
  let next: Result[] = [];
  let reads: FirstRead[] = [];
  const service: RunService = {
    async trigger(_body, { idempotencyKey = '' }) {
      let run = runs.find(({ key }) => key === idempotencyKey);
      if (run === undefined) {
        run = { id: `run_${runs.length + 1}`, key: idempotencyKey, result: next.shift() ?? 'passed' };
        runs.push(run);
      }
      const value = { runId: run.id };
      return {
        ...{ status: 202, value, text: JSON.stringify(value), headers: {}, requests: 1 },
        redact: (text: string) => text,
      } as Exchange;
    },
    async read(runId, { signal }) {
      const now = reads.shift() ?? 'clear';
      const { result } = runs.find(({ id }) => id === runId) ?? expect.fail(`no run ${runId}`);
      const shared = { failed: null, blocked: null, appUrl: null, retryAfterSeconds: null };
      if (now === 'unknown state')
        return { reading: { kind: 'running', known: false, state: 'paused', ...shared } };
      if (now === 'stalled') {
        await clock.sleep(30_000, signal);
        throw new NetworkError('broken', 'no response');
      }
      if (now !== 'clear') throw new HttpError(`HTTP ${now}`, { status: Number(now) });
      return { reading: { ...shared, kind: 'ended', ...results[result] } };
    },
    readEnd: async (runId) => {
      const { result } = runs.find(({ id }) => id === runId) ?? expect.fail(`no run ${runId}`);
      return { verdict: verdictOf(results[result]) };
    },
    cancel: () => expect.fail('not expected'),
  };
  return {
    ...{ service, clock, runs },
    /** Sets what happens from now on: the results of new runs, and the next status reads. */
    set(plan: { results?: Result[]; reads?: FirstRead[] }) {
      next = plan.results ?? [];
      reads = plan.reads ?? [];
    },
  };
}

let journals = 0;
const newJournal = () => {
  journals += 1;
  return join(folder, `${journals}.journal`);
};

interface Job {
  ci: Partial<CiContext>;
  journal: string;
  policy?: PolicySource;
  retries?: number;
  timeoutMs?: number;
  /** The process is killed when it has created its first run. */
  killed?: boolean;
}

/** Runs the gate of one job. */
async function runJob(world: ReturnType<typeof fastService>, { ci, journal, policy, ...job }: Job) {
  const { service, clock } = world;
  const context = { ...detectCi({}), provider: 'github' as const, ...pipeline, ...ci };
  const request = {
    given: undefined,
    how: '',
    salt: null,
    retries: job.retries,
    bodyBytes: '{}',
    ci: context,
  };
  const planned = planKeys(
    { ...request, builds: [], journalPath: journal },
    { warn: expect.fail, redact: redactNothing },
  );
  const events: Parameters<Emit>[0][] = [];
  let die = () => {};
  const death = new Promise<null>((resolve) => {
    die = () => resolve(null);
  });
  const before = world.runs.length;
  const running = runWithRetries(
    {
      start: { body: { projectSlug: 'shop', processSlug: 'checkout' }, chain: planned.chain },
      policy: resolvePolicy(policy),
      retries: job.retries,
      ...{ intervalMs: 10_000, shortestMs: 1000, maxAttempts: 100, timeoutMs: job.timeoutMs ?? 3_600_000 },
      ...{ cancelOnInterrupt: true, cancelOnTimeout: false, cancelReason: () => '' },
    },
    {
      ...{ clock, random: () => 0.5, onStop: () => () => {} },
      // A process that is killed reads nothing.
      service: job.killed === true ? { ...service, read: () => new Promise(() => {}) } : service,
      emit(event) {
        emitTo([journalReporter([{ name: unnamed, journal: planned.journal }])], event, redactNothing);
        if (event.type === 'received' && job.killed === true) die();
        events.push(event);
      },
    },
  );
  const report = await Promise.race([running, death]);
  const discarded = events.flatMap((event) => (event.type === 'discarded' ? [event] : []));
  const created = world.runs.slice(before);
  return { exitCode: report?.exitCode, run: report && decidingRuns(report)[0], report, created, discarded };
}

/** Brings the service and the job to the moment at which the gate begins. */
const situations = {
  'no re-run': async (_world, kind) => ({ ci: kinds[kind].first, journal: newJournal() }),
  're-run after red': async (world, kind) => {
    world.set({ results: ['failed', 'failed', 'failed'] });
    await runJob(world, { ci: kinds[kind].first, journal: newJournal() });
    return { ci: kinds[kind].again, journal: newJournal() };
  },
  're-run after green': async (world, kind) => {
    await runJob(world, { ci: kinds[kind].first, journal: newJournal() });
    return { ci: kinds[kind].again, journal: newJournal() };
  },
  'attempt 2, attempt 1 made no run': async (_world, kind) => ({
    ci: kinds[kind].again,
    journal: newJournal(),
  }),
  'journal lost': async (world, kind, result) => {
    world.set({ results: [result] });
    await runJob(world, { ci: kinds[kind].first, journal: newJournal(), killed: true });
    return { ci: kinds[kind].first, journal: newJournal() };
  },
  'killed and started again': async (world, kind, result) => {
    const job = { ci: kinds[kind].first, journal: newJournal() };
    world.set({ results: [result] });
    await runJob(world, { ...job, killed: true });
    return job;
  },
  'second job with the same key': async (world, kind, result) => {
    world.set({ results: [result] });
    await runJob(world, { ci: kinds[kind].first, journal: newJournal() });
    const ci = kind === 'job number' ? { jobId: '43' } : kinds[kind].first;
    return { ci, journal: newJournal() };
  },
} satisfies Record<
  string,
  (world: ReturnType<typeof fastService>, kind: Kind, result: Result) => Promise<Job>
>;
type Situation = keyof typeof situations;

interface Row {
  kind: Kind;
  situation: Situation;
  firstRead: FirstRead;
  result: Result;
  policy: keyof typeof policies;
}

async function play({ kind, situation, firstRead, result, policy }: Row, retries = 0) {
  const world = fastService();
  const job = await situations[situation](world, kind, result);
  // Every run after the one in question passes, so a failure that is forgiven shows.
  const seen = ['journal lost', 'killed and started again', 'second job with the same key'];
  world.set({ reads: [firstRead], results: seen.includes(situation) ? [] : [result] });
  return runJob(world, { ...job, policy: policies[policy], retries });
}

const names = <T extends object>(of: T) => Object.keys(of) as (keyof T & string)[];
const rows = names(kinds).flatMap((kind) =>
  names(situations).flatMap((situation) =>
    firstReads.flatMap((firstRead) =>
      names(results).flatMap((result) =>
        names(policies).map((policy): Row => ({ kind, situation, firstRead, result, policy })),
      ),
    ),
  ),
);

/**
 * The key of the run in question: random, since every link has led to a run that had ended; one that only this re-run of the job can have used
 * (and jobs that the CI does not tell apart); or one that the job may have used before its re-run.
 */
function keyOf({ kind, situation }: Row): 'random' | 'own' | 'other' {
  const isAgain = situation.startsWith('re-run');
  if (kind === 'new pipeline') return 'own';
  if (kind === 'attempt number')
    return isAgain || situation === 'attempt 2, attempt 1 made no run' ? 'other' : 'own';
  if (isAgain) return 'random';
  return kind === 'job number' && situation === 'killed and started again' ? 'own' : 'other';
}
const fails = ({ result, policy }: Row) =>
  resolvePolicy(policies[policy])[verdictOf(results[result])] === 'fail';
const titleOf = ({ kind, situation, firstRead, result, policy }: Row) =>
  [kind, situation, firstRead, result, policy].join(' | ');

describe('a run that ended before its first clear status read', () => {
  test.each(names(kinds))(
    'fails the gate under a key of this re-run, where the policy says so (%s)',
    async (kind) => {
      for (const row of rows.filter((one) => one.kind === kind && keyOf(one) !== 'other' && fails(one))) {
        const { exitCode, run, created } = await play(row);
        expect([titleOf(row), run?.verdict]).toEqual([titleOf(row), row.result]);
        expect(exitCode, titleOf(row)).not.toBe(0);
        expect(created.length, titleOf(row)).toBeLessThanOrEqual(1);
      }
    },
  );

  test.each(names(kinds))(
    'never passes the gate under such a key: a further run decides (%s)',
    async (kind) => {
      for (const row of rows.filter((one) => one.kind === kind && keyOf(one) === 'own' && !fails(one))) {
        const { run, discarded, created } = await play(row);
        expect(run?.runId, titleOf(row)).toBe(created.at(-1)?.id);
        expect(
          discarded.map(({ verdict }) => verdict),
          titleOf(row),
        ).toContain(row.result);
        expect(
          discarded.map(({ runId }) => runId),
          titleOf(row),
        ).not.toContain(run?.runId);
      }
    },
  );

  test('is retried with --retries, which makes a pass flaky', async () => {
    const failed = rows.filter((row) => row.result === 'failed' && keyOf(row) === 'own' && fails(row));
    for (const row of failed.filter(({ situation }) => !situation.startsWith('re-run')))
      expect(await play(row, 1), titleOf(row)).toMatchObject({ exitCode: 0, run: { verdict: 'flaky' } });
  });

  test('is left under a key from before the re-run, and makes a pass flaky if it may have been this one', async () => {
    const forgiven = new Set<string>();
    for (const row of rows.filter((one) => keyOf(one) === 'other' && fails(one))) {
      const { exitCode, run, discarded } = await play(row);
      const left = discarded.find(({ verdict }) => verdict === row.result);
      expect(exitCode, titleOf(row)).toBe(0);
      expect(left?.reason, titleOf(row)).toBe('this job may have started it before its re-run');
      // These reads come more than 5 s after the run was created. In a re-run, the first read is that of an earlier run.
      const isLate = ['429', '404', 'stalled', 'unknown state'].includes(row.firstRead);
      const isRed = row.situation === 're-run after red';
      const doubt =
        isLate && (isRed || (row.result !== 'cancelled' && row.situation !== 're-run after green'));
      expect([titleOf(row), run?.verdict]).toEqual([titleOf(row), doubt ? 'flaky' : 'passed']);
      forgiven.add(`${row.kind}: ${row.situation}`);
    }
    expect([...forgiven]).toEqual([
      'attempt number: re-run after red',
      'attempt number: re-run after green',
      'attempt number: attempt 2, attempt 1 made no run',
      'job number: no re-run',
      'job number: attempt 2, attempt 1 made no run',
      'job number: journal lost',
      'job number: second job with the same key',
      'neither: no re-run',
      'neither: attempt 2, attempt 1 made no run',
      'neither: journal lost',
      'neither: killed and started again',
      'neither: second job with the same key',
    ]);
  });
});

test('a discarded run does not count for the next command of the job', async () => {
  const world = fastService();
  const job = { ci: kinds['job number'].first, journal: newJournal() };
  world.set({ results: ['failed', 'passed', 'passed'] });
  expect((await runJob(world, job)).exitCode).toBe(0);
  expect(await runJob(world, job)).toMatchObject({
    exitCode: 0,
    discarded: Array(4).fill(expect.objectContaining({ verdict: 'passed' })),
  });
});

describe('a run that is discarded when too little of the timeout is left for a new one', () => {
  // The stalled read takes 30 s.
  const play = (results: Result[], reads: FirstRead[], retries: number) => {
    const world = fastService();
    world.set({ results, reads });
    return runJob(world, { ci: { attempt: 1 }, journal: newJournal(), timeoutMs: 36_000, retries });
  };

  test('is the reason in the message, not the limit of creates', async () => {
    const { exitCode, run } = await play(['passed'], ['stalled'], 0);
    expect([exitCode, run?.error?.message]).toEqual([
      3,
      'no new run was created after the discarded one: too little is left of the timeout of 36 s',
    ]);
  });

  test('is in the result if it was a retry', async () => {
    const { exitCode, report } = await play(['failed', 'passed'], ['clear', 'stalled'], 1);
    expect(exitCode).toBe(1);
    expect(report).toMatchObject({ runs: [{ runId: 'run_1' }], discarded: [{ runId: 'run_2' }] });
  });
});
