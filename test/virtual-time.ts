import type { Clock } from '../src/clock.ts';

export interface VirtualTime {
  readonly clock: Clock;
  /** Lets time pass, and ends the sleeps within it in order. */
  run(ms: number): Promise<void>;
  /** Calls back at a time. */
  at(time: number, act: () => void): void;
  /** How many sleeps have not ended. */
  sleeping(): number;
  /** The time until the next sleep ends, in milliseconds; Infinity without one. */
  untilNext(): number;
}

/** A clock for code that sleeps in several places at once: time passes only in `run`. */
export function virtualTime(epoch = Date.UTC(2026, 0, 15, 12)): VirtualTime {
  interface Sleep {
    at: number;
    end(): void;
  }
  let time = 0;
  const sleeps = new Set<Sleep>();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const sleepUntil = (at: number, end: () => void) => {
    const sleep = { at, end };
    sleeps.add(sleep);
    return sleep;
  };
  return {
    clock: {
      now: () => epoch + time,
      monotonic: () => time,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted === true) return reject(signal.reason);
          const sleep = sleepUntil(time + Math.max(0, ms), () => {
            signal?.removeEventListener('abort', stop);
            resolve();
          });
          const stop = () => {
            sleeps.delete(sleep);
            reject(signal?.reason);
          };
          signal?.addEventListener('abort', stop, { once: true });
        }),
    },
    async run(ms) {
      const end = time + ms;
      for (;;) {
        await settle();
        let next: Sleep | null = null;
        for (const sleep of sleeps) if (sleep.at <= end && sleep.at < (next?.at ?? Infinity)) next = sleep;
        if (next === null) break;
        sleeps.delete(next);
        time = Math.max(time, next.at);
        next.end();
      }
      time = end;
    },
    at: (at, act) => void sleepUntil(at, act),
    sleeping: () => sleeps.size,
    untilNext: () =>
      Math.min(...[...sleeps].map(({ at }) => Math.max(0, at - time)), Number.POSITIVE_INFINITY),
  };
}
