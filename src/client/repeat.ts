import pRetry from 'p-retry';
import type { Clock } from '../clock.ts';
import { HttpError, NetworkError } from '../errors.ts';
import { isPassing } from './retry.ts';

/** Longer in all than a server takes to restart. */
const pausesMs = [1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** A server that asks for a longer wait is not waited for. */
const longestMs = 30_000;

/** Returns the wait before a request is repeated, in milliseconds; null if that would not help. */
function pauseOf(error: unknown, pauseMs: number): number | null {
  if (error instanceof NetworkError) return pauseMs;
  if (!(error instanceof HttpError)) return null;
  const { status, retryAfterMs } = error;
  if (retryAfterMs !== undefined) return retryAfterMs <= longestMs ? Math.max(pauseMs, retryAfterMs) : null;
  return isPassing(status) || status === 429 ? pauseMs : null;
}

/** Sends a request that may be sent twice, and repeats it after a fault that may pass. */
export function repeated<Value>(
  send: () => Promise<Value>,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Value> {
  const pause = (error: unknown, attempt: number) => pauseOf(error, pausesMs[attempt - 1] ?? 0);
  return pRetry(send, {
    retries: pausesMs.length,
    signal,
    // The waits are on our clock.
    minTimeout: 0,
    shouldRetry: ({ error, attemptNumber }) => pause(error, attemptNumber) !== null,
    onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
      if (retriesLeft > 0) await clock.sleep(pause(error, attemptNumber) ?? 0, signal);
    },
  });
}
