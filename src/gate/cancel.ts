import { RungateError } from '../errors.ts';
import { untilAborted } from '../transport/stop.ts';
import type { Cancellation } from './result-types.ts';
import type { WaitTools } from './wait.ts';
import type { WatchedRun } from './watched-run.ts';

/** The time for a stop. It takes 5 s at most; the rest is for noticing it (a lost parent shows late) and for the report. */
export const stopBudgetMs = 4_400;
const cancelTimeoutMs = 15_000;

/** Cancels runs after the timeout. A stop in the meantime shortens it to the time of a stop. */
export async function cancelLate(
  runs: readonly WatchedRun[],
  reason: string,
  tools: WaitTools,
): Promise<void> {
  const { clock, signal } = tools;
  const timeUp = new AbortController();
  const done = new AbortController();
  untilAborted(signal)
    .then(() => clock.sleep(stopBudgetMs, done.signal))
    .then(
      () => timeUp.abort(signal.reason),
      () => {},
    );
  try {
    await cancelAll(runs, reason, cancelTimeoutMs, tools, timeUp.signal);
  } finally {
    done.abort();
  }
}

/** Returns whether the service accepted all of them. */
export async function cancelAll(
  runs: readonly WatchedRun[],
  reason: string,
  timeoutMs: number,
  { service, emit }: Pick<WaitTools, 'service' | 'emit'>,
  signal?: AbortSignal,
): Promise<Cancellation> {
  if (runs.length === 0) return 'none';
  const done = await Promise.all(
    runs.map(async (run) => {
      const { runId } = run;
      try {
        await service.cancel(runId, reason, { timeoutMs: Math.max(1, timeoutMs), signal });
        run.cancellation = 'requested';
        emit?.({ type: 'cancelled', runId, error: null });
        return true;
      } catch (error) {
        if (!(error instanceof RungateError)) throw error;
        run.cancellation = 'failed';
        emit?.({ type: 'cancelled', runId, error });
        return false;
      }
    }),
  );
  return done.every(Boolean) ? 'requested' : 'failed';
}
