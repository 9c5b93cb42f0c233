import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../src/clock.ts';
import { isRequestUnderWay } from './requests-under-way.ts';

export interface FakeClock extends Clock {
  /** The requested sleeps, in milliseconds. */
  readonly sleeps: number[];
  advance(ms: number): void;
}

/** Other work runs for so many turns before time passes, so that a response in transit ends a sleep that waits for it. */
const usualTurns = 20;
/**
 * A long sleep is a limit: it also waits for what takes real time, such as a request that hangs until its own timeout, for so many
 * turns of 5 ms.
 */
const longMs = 45_000;
const mostTurns = 600;

/** A clock whose sleeps end at once, the earliest first: only sleeping advances it, so that an hour of polling takes milliseconds. */
export function fakeClock(start = Date.UTC(2026, 0, 15, 12)): FakeClock {
  let elapsed = 0;
  let ended = 0;
  const sleeps: number[] = [];
  const pending = new Set<{ at: number }>();
  const isFirst = (one: { at: number }) => {
    for (const other of pending) if (other.at < one.at) return false;
    return true;
  };
  return {
    sleeps,
    now: () => start + elapsed,
    monotonic: () => elapsed,
    advance(ms) {
      elapsed += ms;
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      const one = { at: elapsed + ms };
      pending.add(one);
      let onAbort = () => {};
      const aborted = new Promise<void>((resolve) => {
        onAbort = resolve;
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        const isLong = (turn: number) => ms >= longMs && turn < mostTurns && isRequestUnderWay();
        for (let turn = 0, seen = ended; turn < usualTurns || !isFirst(one) || isLong(turn); turn += 1) {
          await Promise.race([turn < usualTurns ? nextTurn() : pause(5), aborted]);
          signal?.throwIfAborted();
          // Work that waited for another sleep runs first.
          if (seen !== ended) [turn, seen] = [0, ended];
        }
      } finally {
        pending.delete(one);
        signal?.removeEventListener('abort', onAbort);
      }
      ended += 1;
      sleeps.push(ms);
      elapsed = Math.max(elapsed, one.at);
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
}

/** Returns the clock with limits: a sleep of 40 s or more does not pass time, it ends with the other sleeps. */
export function withLimits(clock: FakeClock): Clock {
  return {
    ...clock,
    async sleep(ms, signal) {
      if (ms < 40_000) return clock.sleep(ms, signal);
      for (const end = clock.monotonic() + ms; clock.monotonic() < end; ) {
        await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
      }
    },
  };
}
