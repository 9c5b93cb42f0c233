import type { Clock } from '../src/clock.ts';

export interface FakeClock extends Clock {
  /** Every sleep that was asked for, in milliseconds. */
  readonly sleeps: number[];
  advance(ms: number): void;
}

/** A clock whose sleeps pass at once: time is what was slept, and an hour of polling takes milliseconds. */
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
      // Sockets get their turn before time passes: a response that is on its way ends a sleep that waits for it, too.
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
