/** Time, passed in everywhere, so that an hour of polling is tested in milliseconds. */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch: for what is compared with dates from outside. */
  now(): number;
  /** Milliseconds on a clock that never jumps: for durations and deadlines. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A timer's largest delay: beyond 2^31-1 ms Node fires at once. */
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
    // Node's timers fire up to some milliseconds early, counting from when the event loop last looked at the time.
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      await timer(Math.min(Math.ceil(left), longestTimer), signal);
      signal?.throwIfAborted();
    }
  },
};
