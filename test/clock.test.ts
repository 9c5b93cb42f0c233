import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../src/clock.ts';

const longestTimer = 2 ** 31 - 1;
const dayMs = 24 * 3_600_000;

/** Whether a promise has been settled, and how, without waiting for it. */
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

  test('is over after its time and not before', async () => {
    const sleep = observe(systemClock.sleep(10_000));
    await vi.advanceTimersByTimeAsync(9999);
    expect(sleep.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(sleep.state).toBe('resolved');
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([longestTimer, longestTimer + 1, 60 * dayMs, 400 * dayMs])(
    'of %i ms is not cut by the largest timer there is',
    async (ms) => {
      const set = vi.spyOn(globalThis, 'setTimeout');
      const sleep = observe(systemClock.sleep(ms));
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(sleep.state).toBe('pending');
      await vi.advanceTimersByTimeAsync(1);
      expect(sleep.state).toBe('resolved');
      for (const [, delay] of set.mock.calls) expect(delay).toBeLessThanOrEqual(longestTimer);
      set.mockRestore();
    },
  );

  test.each([0, -5])('of %i ms is over at once', async (ms) => {
    await systemClock.sleep(ms);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('rejects with the reason of a signal that was aborted before, even when there is nothing to wait for', async () => {
    const reason = new Error('stopped');
    for (const ms of [0, 1000]) {
      await expect(systemClock.sleep(ms, AbortSignal.abort(reason))).rejects.toBe(reason);
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  test('rejects with the signal’s reason as soon as it is aborted, and leaves no timer and no listener', async () => {
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

  test('that ended leaves no timer and no listener', async () => {
    const stop = new AbortController();
    for (let turn = 0; turn < 20; turn++) {
      const sleep = observe(systemClock.sleep(1000, stop.signal));
      await vi.advanceTimersByTimeAsync(1000);
      expect(sleep.state).toBe('resolved');
    }
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('over several timers can be aborted in the last of them', async () => {
    const stop = new AbortController();
    const sleep = observe(systemClock.sleep(60 * dayMs, stop.signal));
    await vi.advanceTimersByTimeAsync(59 * dayMs);
    stop.abort('enough');
    await vi.advanceTimersByTimeAsync(0);
    expect(sleep).toEqual({ state: 'rejected', reason: 'enough' });
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('hears of a stop between two of its timers', async () => {
    const stop = new AbortController();
    const sleep = observe(systemClock.sleep(60 * dayMs, stop.signal));
    vi.advanceTimersByTime(longestTimer);
    stop.abort('enough');
    await vi.advanceTimersByTimeAsync(0);
    expect(sleep).toEqual({ state: 'rejected', reason: 'enough' });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('on the real clock', () => {
  test('a sleep is never shorter than it was asked to be, though timers fire early', async () => {
    for (let turn = 0; turn < 60; turn++) {
      const ms = 2 + turn / 20;
      // A timer counts from when the event loop last looked at the time: work before it makes it early.
      for (const busy = performance.now(); performance.now() - busy < 1.5; );
      const start = systemClock.monotonic();
      await systemClock.sleep(ms);
      expect(systemClock.monotonic() - start).toBeGreaterThanOrEqual(ms);
    }
  });

  test('now is the time of day, monotonic never goes back', () => {
    const before = Date.now();
    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
    expect(Date.now()).toBeGreaterThanOrEqual(systemClock.now() - 1);
    const first = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
  });
});
