/** The source of time. It is passed in everywhere, so that tests run an hour of polling in milliseconds. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since the epoch, for comparison with external dates. */
  now(): number;
  /** Returns milliseconds on a clock that never jumps, for durations and deadlines. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The largest delay of a timer, 2^31-1 ms; with a larger one Node fires immediately. */
const longestTimer = 2 ** 31 - 1;

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(handle);
      reject(signal?.reason);
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    // Node's timers may fire a few milliseconds early, since they count from the last time the event loop read the clock.
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      await timer(Math.min(Math.ceil(left), longestTimer), signal);
      signal?.throwIfAborted();
    }
  },
};

/** Settles as the promise does, or resolves with undefined after `ms`. */
export async function within<T>(ms: number, promise: Promise<T>, clock: Clock): Promise<T | undefined> {
  const done = new AbortController();
  const timeUp = clock.sleep(ms, done.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    done.abort();
  }
}

/** Does work for at most `ms`, and then aborts it and resolves with undefined. */
export function inTime<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  clock: Clock,
): Promise<T | undefined> {
  const timeUp = new AbortController();
  return within(ms, work(timeUp.signal), clock).finally(() => timeUp.abort());
}

/** Returns whether a callback is asynchronous, by what it returns. */
export function isPromise(returned: unknown): returned is Promise<unknown> {
  return typeof (returned as Partial<Promise<unknown>> | null | undefined)?.then === 'function';
}
