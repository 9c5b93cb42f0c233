import type { Clock } from '../src/clock.ts';

export interface FakeClock extends Clock {
  /** The requested sleeps, in milliseconds. */
  readonly sleeps: number[];
  advance(ms: number): void;
}

/** A clock whose sleeps end immediately: only sleeping advances it, so that an hour of polling takes milliseconds. */
export function fakeClock(start = Date.UTC(2026, 0, 15, 12)): FakeClock {
  let elapsed = 0;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => start + elapsed,
    monotonic: () => elapsed,
    advance(ms) {
      elapsed += ms;
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      // Let sockets run before time passes, so that a response in transit ends a sleep that waits for it.
      for (let turn = 0; turn < 20 && signal?.aborted !== true; turn += 1)
        await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      sleeps.push(ms);
      elapsed += ms;
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
