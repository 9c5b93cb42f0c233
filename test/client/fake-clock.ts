import type { Clock } from '../../src/clock.ts';

export interface FakeClock extends Clock {
  /** Every sleep so far, in milliseconds. */
  readonly sleeps: number[];
  advance(ms: number): void;
}

/** A clock on which a sleep is over at once. */
export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  const sleeps: number[] = [];
  let elapsed = 0;
  return {
    sleeps,
    advance(ms) {
      elapsed += ms;
    },
    now: () => start + elapsed,
    monotonic: () => elapsed,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
      elapsed += ms;
    },
  };
}
