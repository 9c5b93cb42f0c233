import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CredentialError, HttpError, MismatchError, NetworkError } from '../../src/errors.ts';
import { exitCodeOf } from '../../src/exit.ts';
import {
  type Action,
  actions,
  type Policy,
  resolvePolicy,
  type Verdict,
  verdicts,
} from '../../src/gate/policy.ts';
import { firstProgress, type RunOutcome } from '../../src/gate/poll.ts';
import { reportGate, reportRun, reportStop } from '../../src/gate/report.ts';
import { type WatchedRun, watch } from '../../src/gate/watched-run.ts';
import { readStatus } from '../without-redaction.ts';

const refused = new NetworkError('refused', 'no server listens', { hint: 'check the address' });
const unauthorized = new HttpError('who are you?', { status: 401, details: 'no such key' });
const strict = resolvePolicy({ strict: true });

function run(runId: string, outcome: RunOutcome | null, parts: Partial<WatchedRun> = {}): WatchedRun {
  return { ...watch(runId, 1000), outcome, endedAt: outcome === null ? null : 32_234, ...parts };
}

/** The monotonic clock shows a time, and has begun with the epoch. */
const at = (ms: number) => ({ monotonic: () => ms, now: () => ms });

/** The verdict of one run; only a gate is flaky. */
type RunVerdict = Exclude<Verdict, 'flaky'>;
const runVerdicts = verdicts.filter((verdict) => verdict !== 'flaky');

function outcomeFor(verdict: RunVerdict, cause = refused as NetworkError | HttpError): RunOutcome {
  if (verdict === 'mismatch') return { verdict, cause: new MismatchError('another build') };
  return verdict === 'unobserved' ? { verdict, cause } : { verdict };
}

const exitCodeAlone = (watched: WatchedRun, policy: Policy) =>
  reportGate([watched], policy, at(33_000)).exitCode;

describe('the exit code of one run', () => {
  test.each<[RunVerdict, number]>([
    ['failed', 1],
    ['blocked', 2],
    ['timeout', 3],
    ['cancelled', 4],
    ['mismatch', 8],
  ])('is for %s, if the policy fails it, %i', (verdict, code) => {
    expect(exitCodeAlone(run('r', outcomeFor(verdict)), strict)).toBe(code);
  });

  test.each([
    ['401', unauthorized, 6],
    ['403', new HttpError('no', { status: 403 }), 6],
    ['a missing credential', new CredentialError('no'), 6],
    ['404', new HttpError('no', { status: 404 }), 5],
    ['500', new HttpError('no', { status: 500 }), 5],
    ['a refused connection', refused, 7],
  ])('for unobserved follows %s', (_name, cause, code) => {
    expect(exitCodeAlone(run('r', { verdict: 'unobserved', cause }), strict)).toBe(code);
  });

  test.each<RunVerdict>(['failed', 'blocked', 'cancelled', 'timeout', 'unobserved', 'mismatch'])(
    'for %s with =warn is 0',
    (verdict) => {
      const policy = resolvePolicy({ strict: true, on: { [verdict]: 'warn' } });
      expect(exitCodeAlone(run('r', outcomeFor(verdict)), policy)).toBe(0);
    },
  );

  test('for passed is 0 under every policy', () => {
    expect(exitCodeAlone(run('r', { verdict: 'passed' }), strict)).toBe(0);
    expect(exitCodeAlone(run('r', { verdict: 'passed' }), resolvePolicy())).toBe(0);
  });
});

describe('the report of a run', () => {
  const origin = { idempotencyKey: 'k', reattached: true };

  test('has every documented field', () => {
    const seen = readStatus({ state: 'completed', failed: 2, blocked: 0 });
    const progress = { ...firstProgress(), attempts: 4, seen };
    const watched = run('r-1', { verdict: 'failed' }, { progress, appUrl: 'https://app.example/1' });
    expect(reportRun({ ...watched, ...origin }, strict, at(99_999))).toEqual({
      runId: 'r-1',
      name: 'r-1',
      project: null,
      process: null,
      tags: null,
      state: 'completed',
      verdict: 'failed',
      action: 'fail',
      failed: 2,
      blocked: 0,
      appUrl: 'https://app.example/1',
      attempts: 4,
      elapsedSeconds: 31.234,
      endedAt: '1970-01-01T00:00:32.234Z',
      idempotencyKey: 'k',
      reattached: true,
    });
  });

  test('has null for unknown facts, and fails the gate', () => {
    const report = reportRun(run('r-1', null), strict, at(2500));
    expect(report).toMatchObject({
      state: null,
      verdict: null,
      action: 'fail',
      failed: null,
      blocked: null,
      appUrl: null,
      attempts: 0,
      elapsedSeconds: 1.5,
    });
    expect(report).not.toHaveProperty('error');
  });

  test('has the error of an unobserved run', () => {
    const { error, verdict } = reportRun(
      run('r', { verdict: 'unobserved', cause: unauthorized }),
      strict,
      at(0),
    );
    expect(verdict).toBe('unobserved');
    expect(error).toMatchObject({
      code: 'unauthorized',
      message: 'who are you?',
      status: 401,
      details: 'no such key',
    });
  });

  test('keeps the last valid status of an unobserved run', () => {
    const seen = readStatus({ state: 'in_progress', failed: 1, blocked: 0 });
    const progress = { ...firstProgress(), seen };
    expect(reportRun(run('r', outcomeFor('unobserved'), { progress }), strict, at(0))).toMatchObject({
      state: 'in_progress',
      failed: 1,
      blocked: 0,
    });
  });

  test('has seconds with at most three decimals', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e8, noNaN: true }), (endedAt) => {
        const { elapsedSeconds } = reportRun(run('r', null, { startedAt: 0, endedAt }), strict, at(0));
        expect(String(elapsedSeconds)).toMatch(/^\d+(\.\d{1,3})?$/);
      }),
    );
  });
});

describe('the gate', () => {
  const passed = run('ok', { verdict: 'passed' });

  test.each<[string, RunOutcome[], Action, number]>([
    ['all passed', [{ verdict: 'passed' }, { verdict: 'passed' }], 'pass', 0],
    ['one cancelled', [{ verdict: 'passed' }, { verdict: 'cancelled' }], 'warn', 0],
    ['one failed and a warning', [{ verdict: 'cancelled' }, { verdict: 'failed' }], 'fail', 1],
    ['timeout and blocked', [{ verdict: 'timeout' }, { verdict: 'blocked' }], 'fail', 2],
    ['failed and unreachable', [{ verdict: 'failed' }, { verdict: 'unobserved', cause: refused }], 'fail', 7],
    [
      'unreachable and unauthorized',
      [
        { verdict: 'unobserved', cause: refused },
        { verdict: 'unobserved', cause: unauthorized },
      ],
      'fail',
      6,
    ],
  ])('over %s', (_name, outcomes, result, exitCode) => {
    const report = reportGate(
      outcomes.map((outcome, index) => run(`r${index}`, outcome)),
      resolvePolicy(),
      at(0),
    );
    expect(report).toMatchObject({ schemaVersion: 1, result, exitCode });
    expect(report.runs.map((one) => one.runId)).toEqual(['r0', 'r1']);
  });

  test('gives each run its own origin', () => {
    const own = { ...passed, idempotencyKey: 'k', reattached: true };
    const [first, second] = reportGate([own, run('other', { verdict: 'passed' })], strict, at(0)).runs;
    expect(first).toMatchObject({ idempotencyKey: 'k', reattached: true });
    expect(second).toMatchObject({ idempotencyKey: null, reattached: false });
  });

  test('fails exactly if the exit code is not 0, and passes only if every run does', () => {
    const causes = [refused, unauthorized, new HttpError('no', { status: 500 })];
    const outcome = fc
      .tuple(fc.constantFrom(...runVerdicts), fc.constantFrom(...causes))
      .map(([verdict, cause]) => outcomeFor(verdict, cause));
    const action = fc.constantFrom(...actions);
    const known = fc.constantFrom<Action>('warn', 'fail');
    const on = fc.record(
      {
        failed: action,
        blocked: action,
        cancelled: action,
        timeout: known,
        unobserved: known,
        mismatch: known,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(outcome, { minLength: 1 }), on, fc.boolean(), (outcomes, overrides, isStrict) => {
        const policy = resolvePolicy({ strict: isStrict, on: overrides as Partial<Record<Verdict, Action>> });
        const runs = outcomes.map((one, index) => run(`r${index}`, one));
        const report = reportGate(runs, policy, at(0));
        expect(report.result === 'fail').toBe(report.exitCode !== 0);
        expect(report.result === 'pass').toBe(report.runs.every((one) => one.action === 'pass'));
        if (report.exitCode !== 0)
          expect(runs.map((one) => exitCodeAlone(one, policy))).toContain(report.exitCode);
        for (const one of outcomes) {
          if (one.verdict === 'unobserved' && policy.unobserved === 'fail') {
            expect([5, 6, 7]).toContain(exitCodeOf(one.cause));
            expect([5, 6, 7]).toContain(report.exitCode);
          }
        }
      }),
    );
  });
});

describe('a wait that was stopped', () => {
  const report = reportGate([run('ok', { verdict: 'passed' })], resolvePolicy(), at(0));

  test.each([
    ['SIGHUP', 129, 'requested'],
    ['SIGINT', 130, 'failed'],
    ['SIGTERM', 143, 'none'],
  ] as const)('by %s fails with %i, whatever the runs have shown', (signal, exitCode, cancellation) => {
    expect(reportStop(report, signal, cancellation)).toEqual({
      ...report,
      result: 'fail',
      exitCode,
      interruptedBy: signal,
      cancellation,
    });
  });

  test('keeps the runs, with null for a missing verdict', () => {
    const cut = reportStop(reportGate([run('r', null)], strict, at(0)), 'SIGTERM', 'requested');
    expect(cut.runs).toMatchObject([{ runId: 'r', verdict: null, action: 'fail' }]);
  });
});

test('a gate without runs does not pass', () => {
  const report = reportGate([], resolvePolicy(), at(0));
  expect(report.result).toBe('fail');
  expect(report.exitCode).not.toBe(0);
});
