import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../src/clock.ts';

const longestTimer = 2 ** 31 - 1;
const dayMs = 24 * 3_600_000;

/** Observes the state of a promise without waiting for it. */
function observe(promise: Promise<void>): { state: 'pending' | 'resolved' | 'rejected'; reason?: unknown } {
  const seen: ReturnType<typeof observe> = { state: 'pending' };
  promise.then(
    () => {
      seen.state = 'resolved';
    },
    (reason: unknown) => {
      seen.state = 'rejected';
      seen.reason = reason;
    },
  );
  return seen;
}

describe('sleep', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('resolves after its time and not earlier', async () => {
    const sleep = observe(systemClock.sleep(10_000));
    await vi.advanceTimersByTimeAsync(9999);
    expect(sleep.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(sleep.state).toBe('resolved');
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([longestTimer, longestTimer + 1, 60 * dayMs, 400 * dayMs])(
    'of %i ms is not limited by the largest delay of a timer',
    async (ms) => {
      const sleep = observe(systemClock.sleep(ms));
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(sleep.state).toBe('pending');
      await vi.advanceTimersByTimeAsync(1);
      expect(sleep.state).toBe('resolved');
      // A longer timer would fire after 1 ms, so that more of them were needed.
      const steps = observe(systemClock.sleep(ms));
      for (let left = Math.ceil(ms / longestTimer); left > 0; left -= 1) {
        expect(steps.state).toBe('pending');
        await vi.advanceTimersToNextTimerAsync();
      }
      expect(steps.state).toBe('resolved');
    },
  );

  test.each([0, -5])('of %i ms resolves immediately', async (ms) => {
    await systemClock.sleep(ms);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('rejects with the reason of an already aborted signal, even for 0 ms', async () => {
    const reason = new Error('stopped');
    for (const ms of [0, 1000]) {
      await expect(systemClock.sleep(ms, AbortSignal.abort(reason))).rejects.toBe(reason);
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  test('rejects as soon as the signal is aborted and leaves no timer or listener', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const sleep = observe(systemClock.sleep(60_000, stop.signal));
    await vi.advanceTimersByTimeAsync(30_000);
    stop.abort(reason);
    await vi.advanceTimersByTimeAsync(0);
    expect(sleep).toEqual({ state: 'rejected', reason });
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('leaves no timer or listener after it resolves', async () => {
    const stop = new AbortController();
    for (let turn = 0; turn < 20; turn++) {
      const sleep = observe(systemClock.sleep(1000, stop.signal));
      await vi.advanceTimersByTimeAsync(1000);
      expect(sleep.state).toBe('resolved');
    }
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('with several timers can be aborted during the last one', async () => {
    const stop = new AbortController();
    const sleep = observe(systemClock.sleep(60 * dayMs, stop.signal));
    await vi.advanceTimersByTimeAsync(59 * dayMs);
    stop.abort('enough');
    await vi.advanceTimersByTimeAsync(0);
    expect(sleep).toEqual({ state: 'rejected', reason: 'enough' });
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });
});

describe('the system clock', () => {
  test('never sleeps shorter than requested, although timers fire early', async () => {
    for (let turn = 0; turn < 60; turn++) {
      const ms = 2 + turn / 20;
      // A timer counts from the last time the event loop read the clock, so work before it makes it fire early.
      for (const busy = performance.now(); performance.now() - busy < 1.5; );
      const start = systemClock.monotonic();
      await systemClock.sleep(ms);
      expect(systemClock.monotonic() - start).toBeGreaterThanOrEqual(ms);
    }
  });
});
