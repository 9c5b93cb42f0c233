import type { Clock } from '../../src/clock.ts';

/** A clock that stands still until it is moved. It starts at 2026-01-01T00:00:00Z. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(): ManualClock {
  let elapsed = 0;
  return {
    now: () => Date.UTC(2026, 0, 1) + elapsed,
    monotonic: () => elapsed,
    sleep: async (ms) => {
      elapsed += ms;
    },
    advance(ms) {
      elapsed += ms;
    },
  };
}
