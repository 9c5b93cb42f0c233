import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/client/caller.ts';
import { NetworkError } from '../../src/errors.ts';
import { chainOf, linkAfter } from '../../src/gate/chain.ts';
import type { HubLink } from '../../src/gate/fleet/hub-link.ts';
import type { GateHooks, GateTools } from '../../src/gate/gate.ts';
import { type Overrides, resolvePolicy, verdicts } from '../../src/gate/policy.ts';
import { decidingRuns, unknownRun } from '../../src/gate/report.ts';
import type { GateReport } from '../../src/gate/result-types.ts';
import { decide, runWithRetries } from '../../src/gate/retries.ts';
import type { RunService } from '../../src/gate/service.ts';
import { fakeClock } from '../fake-clock.ts';

const codes = { failed: 1, blocked: 2, timeout: 3, cancelled: 4, unobserved: 5, mismatch: 8 } as const;
const action = fc.constantFrom('pass', 'warn', 'fail');
const known = fc.constantFrom('warn', 'fail');
const policies = fc
  .record({
    ...{ flaky: action, failed: action, blocked: action, cancelled: action },
    ...{ timeout: known, unobserved: known, mismatch: known },
  })
  .map((on) => resolvePolicy({ on: on as Overrides }));

describe('the report that decides a gate with retries', () => {
  test('passes a failed run only by a later pass or by its own policy, and exits with 0 unless it fails', () => {
    const last = fc.constantFrom(...verdicts.filter((verdict) => verdict !== 'flaky'));
    fc.assert(
      fc.property(fc.nat(4), last, policies, (failures, verdict, policy) => {
        const reports = [...Array<'failed'>(failures).fill('failed'), verdict].map(
          (own, index): GateReport => {
            const action = policy[own];
            const exitCode = action === 'fail' && own !== 'passed' ? codes[own] : 0;
            return {
              ...{ schemaVersion: 1, result: action, exitCode },
              runs: [unknownRun({ runId: `run_${index}`, verdict: own, action })],
            };
          },
        );
        const { result, exitCode, runs } = decide(reports, policy);
        expect(result === 'fail').toBe(exitCode !== 0);
        expect(runs.map(({ runId }) => runId)).toEqual(reports.map((report) => report.runs[0]?.runId));
        const [deciding, ...others] = decidingRuns({ runs });
        expect(others).toEqual([]);
        expect(runs.every(({ decides }) => (decides !== undefined) === failures > 0)).toBe(true);
        const all = reports.map((report) => report.result);
        if (verdict !== 'passed') {
          expect(result === 'fail').toBe(all.includes('fail'));
          expect(reports.map((report) => report.runs[0]?.verdict)).toContain(deciding?.verdict);
        } else {
          expect(deciding?.verdict).toBe(failures === 0 ? 'passed' : 'flaky');
          expect(result).toBe(failures === 0 ? 'pass' : policy.flaky);
        }
      }),
    );
  });

  test('fails if there is none', () => {
    expect(decide([], resolvePolicy())).toMatchObject({ result: 'fail', exitCode: 70 });
  });
});

/** Runs a gate whose runs end at their second read with these counts of failed items. */
async function play(
  failures: readonly number[],
  tools: Partial<GateTools> = {},
  retries = 2,
  idOf: (created: number) => string = (nth) => `run_${nth}`,
) {
  const clock = fakeClock();
  let created = 0;
  let active = 0;
  let last: string | null = null;
  let reads = 0;
  const service: RunService = {
    readEnd: () => expect.fail('not expected'),
    async trigger() {
      created += 1;
      reads = 0;
      const value = { runId: idOf(created) };
      if (value.runId !== last) {
        expect(active).toBe(0);
        active += 1;
      }
      last = value.runId;
      return {
        ...{ status: 202, value, text: JSON.stringify(value), headers: {}, requests: 1 },
        redact: (text: string) => text,
      } as Exchange;
    },
    async read() {
      reads += 1;
      const failed = failures[created - 1] ?? 0;
      const seen = { failed, blocked: 0, appUrl: null };
      if (reads === 1)
        return {
          reading: { kind: 'running', known: true, state: 'in_progress', retryAfterSeconds: null, ...seen },
        };
      active -= 1;
      return { reading: { kind: 'ended', state: 'completed', ...seen } };
    },
    cancel: () => expect.fail('not expected'),
  };
  const chain = chainOf({ key: 'key-0', trust: 'random' }, 1, retries);
  const report = await runWithRetries(
    {
      ...{
        start: { body: { projectSlug: 'shop', processSlug: 'checkout' }, chain },
        policy: resolvePolicy(),
      },
      ...{ intervalMs: 10_000, shortestMs: 1000, maxAttempts: 10, timeoutMs: 600_000, retries },
      ...{ cancelOnInterrupt: true, cancelOnTimeout: false, cancelReason: () => 'stopped' },
    },
    { service, clock, random: () => 0.5, onStop: () => () => {}, ...tools },
  );
  return { report, created };
}

describe('each run of a gate with retries', () => {
  test('starts after the run before it has ended', async () => {
    const { report, created } = await play([1, 1, 0]);
    expect(created).toBe(3);
    expect(report).toMatchObject({
      result: 'warn',
      exitCode: 0,
      runs: [{ decides: false }, { retry: 1, decides: false }, { verdict: 'flaky', retry: 2, decides: true }],
    });
  });

  test('asks the hub for the grant of its create', async () => {
    const asked: string[] = [];
    const hub = {
      async granted(of: string) {
        asked.push(of);
      },
      watch: async () => {},
      limited() {},
      onWake: () => () => {},
    } as unknown as HubLink;
    const { created } = await play([1, 0], { hub });
    expect(created).toBe(2);
    expect(asked.filter((of) => of === 'create')).toHaveLength(2);
  });

  test('checks the deployed build from the start, within the time that is left', async () => {
    const lefts: number[] = [];
    const waits: string[] = [];
    const check = (name: string): GateHooks => ({
      async beforeCreate() {
        waits.push(name);
        return null;
      },
      withRead: async () => {},
      afterVerdicts: async () => {},
      judge: (own) => own,
      report: () => ({
        deployed: {
          url: 'https://shop.example/version',
          pointer: null,
          expected: name,
          matches: true,
          reads: [],
        },
      }),
      ofGate: () => check(name),
      again(leftMs) {
        lefts.push(leftMs);
        return check(`${name}+`);
      },
    });
    const { report } = await play([1, 1, 0], { hooks: check('first') });
    expect(waits).toEqual(['first', 'first+', 'first+']);
    expect(lefts.every((left) => left > 0 && left < 600_000)).toBe(true);
    expect(report.deployed?.expected).toBe('first+');
  });

  test('has its idempotency key in the result and in the hint, even if the service does not respond', async () => {
    const lost = (nth: number) => {
      if (nth === 1) return 'run_1';
      throw new NetworkError('broken', 'no response', { hint: 'try again' });
    };
    const { report } = await play([1], {}, 2, lost);
    const key = linkAfter('key-0', 'run_1');
    const hint = expect.stringMatching(
      new RegExp(
        `^a run may have been created with the idempotency key ${key}; try again; rungate sent the request \\d+ times in 4 min`,
      ),
    );
    expect(report.runs).toMatchObject([
      { runId: 'run_1' },
      { runId: null, retry: 1, idempotencyKey: key, error: { hint }, decides: true },
    ]);
  });

  test('is not judged by the run before it, which a service without idempotency keys returns again', async () => {
    const { report } = await play([1, 0], {}, 2, () => 'run_1');
    expect(report).toMatchObject({
      result: 'fail',
      exitCode: 5,
      runs: [{ runId: 'run_1' }, { runId: null, verdict: 'unobserved', decides: true }],
    });
  });

  test('does not start if a stop came with the end of the run before it', async () => {
    let stop = () => {};
    const { report, created } = await play([1, 0], {
      onStop(listener) {
        const earlier = stop;
        stop = () => {
          earlier();
          listener('SIGTERM');
        };
        return () => {};
      },
      emit(event) {
        if (event.type === 'read' && event.nextMs === null) stop();
      },
    });
    expect(created).toBe(1);
    expect(report).toMatchObject({ result: 'fail', exitCode: 1, runs: [{ verdict: 'failed' }] });
  });
});
