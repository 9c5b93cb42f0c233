import { describe, expect, test } from 'vitest';
import type { StopCause } from '../../src/errors.ts';
import { runOnce } from '../../src/gate/gate.ts';
import { resolvePolicy } from '../../src/gate/policy.ts';
import type { RunService } from '../../src/gate/service.ts';
import { fakeClock } from '../fake-clock.ts';

const never = () => expect.fail('not expected');

/** Waits for a run that never ends and whose cancel only ends by an abort. */
async function timesOut() {
  const clock = fakeClock();
  let stop: (cause: StopCause) => void = never;
  let cancelAborted: unknown;
  const service: RunService = {
    trigger: never,
    readEnd: never,
    async read() {
      const running = { kind: 'running', state: 'in_progress', known: true, failed: 0, blocked: 0 } as const;
      return { reading: { ...running, appUrl: null, retryAfterSeconds: null } };
    },
    cancel: (_runId, _reason, { signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          cancelAborted = clock.monotonic();
          reject(signal.reason);
        });
        stop('SIGTERM');
      }),
  };
  const { report } = await runOnce(
    {
      ...{ runIds: ['run_1'], policy: resolvePolicy(), intervalMs: 10_000, shortestMs: 1000 },
      ...{ maxAttempts: 3, timeoutMs: 60_000, cancelOnInterrupt: false, cancelOnTimeout: true },
      cancelReason: () => 'the wait timed out',
    },
    {
      ...{ service, clock, random: () => 0.5 },
      onStop(given) {
        stop = given;
        return () => {};
      },
    },
  );
  return { report, clock, cancelAborted };
}

describe('a stop signal while the gate cancels a run after the timeout', () => {
  test('ends the cancel within 5 s and keeps the verdict', async () => {
    const { report, clock, cancelAborted } = await timesOut();
    expect(report.runs[0]?.verdict).toBe('timeout');
    expect(cancelAborted).toBe(clock.monotonic());
    const after = clock.monotonic() - 2 * 10_500;
    expect(after).toBeGreaterThan(0);
    expect(after).toBeLessThanOrEqual(5000);
  });
});
