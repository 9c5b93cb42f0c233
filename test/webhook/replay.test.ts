import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Verified } from '../../src/webhook/options.ts';
import { createReplayGuard, memoryStore, type ReplayStore } from '../../src/webhook/replay.ts';
import { until } from '../until.ts';

const verified: Verified = { timestamp: '2026-01-15T12:00:00.000Z', secretIndex: 0, ageSeconds: 1 };
const signature = `sha256=${'ab'.repeat(32)}`;
const other = `sha256=${'cd'.repeat(32)}`;

describe('a replay guard', () => {
  test('accepts each delivery once', async () => {
    const guard = createReplayGuard();
    expect(await guard.check(verified, signature)).toBe('first');
    expect(await guard.check(verified, signature)).toBe('replay');
    expect(await guard.check(verified, other)).toBe('first');
    expect(await guard.check({ ...verified, timestamp: '2026-01-15T12:00:01.000Z' }, signature)).toBe(
      'first',
    );
  });

  test('recognises a replay despite other hex case, another matching secret or another age', async () => {
    const guard = createReplayGuard();
    await guard.check(verified, signature);
    const upperCase = signature.toUpperCase().replace('SHA256', 'sha256');
    expect(await guard.check({ ...verified, secretIndex: 1, ageSeconds: 200 }, upperCase)).toBe('replay');
  });

  test.each(['', 'sha256=00', undefined])('refuses %j as a signature', async (given) => {
    await expect(createReplayGuard().check(verified, given as never)).rejects.toMatchObject({
      code: 'bad_option',
    });
  });

  test('calls exactly one of a hundred concurrent deliveries the first', async () => {
    const guard = createReplayGuard();
    const verdicts = await Promise.all(Array.from({ length: 100 }, () => guard.check(verified, signature)));
    expect(verdicts.filter((verdict) => verdict === 'first')).toHaveLength(1);
  });

  test.each([
    { ttlSeconds: 359 },
    { maxAge: 0 },
    { maxAge: null },
    { ttlSeconds: Number.POSITIVE_INFINITY, maxAge: null },
  ])('cannot be created with %j', (options) => {
    expect(() => createReplayGuard(options)).toThrow(expect.objectContaining({ code: 'bad_option' }));
  });

  test.each([301, -61, Number.NaN])(
    'rejects a delivery of an age of %d s, which is outside its window',
    async (ageSeconds) => {
      await expect(createReplayGuard().check({ ...verified, ageSeconds }, signature)).rejects.toMatchObject({
        code: 'bad_option',
      });
    },
  );

  test('remembers a delivery from the earliest to the latest moment of its window', async () => {
    let time = 0;
    const guard = createReplayGuard({ store: memoryStore({ now: () => time }) });
    expect(await guard.check({ ...verified, ageSeconds: -60 }, signature)).toBe('first');
    time = 360_000;
    expect(await guard.check({ ...verified, ageSeconds: 300 }, signature)).toBe('replay');
  });

  test('does not handle a delivery if the store fails', async () => {
    const store: ReplayStore = {
      setIfAbsent: () => Promise.reject(new Error('connection lost')),
      delete: async () => undefined,
    };
    const guard = createReplayGuard({ store });
    let handled = 0;
    await expect(guard.once({ verified, signature }, () => (handled += 1))).rejects.toThrow(
      'connection lost',
    );
    expect(handled).toBe(0);
  });
});

test.each([undefined, null, 1, 'OK'])('throws before the handler if a store returns %j', async (answer) => {
  const store = { setIfAbsent: async () => answer, delete: async () => 1 } as unknown as ReplayStore;
  const handle = vi.fn();
  const outcome = createReplayGuard({ store }).once({ verified, signature }, handle);
  await expect(outcome).rejects.toMatchObject({ code: 'bad_option' });
  expect(handle).not.toHaveBeenCalled();
});

describe('with a store that does not respond, a replay guard', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A store that responds only after `thaw`. */
  function frozen() {
    const held: (() => void)[] = [];
    const keys = new Set<string>();
    const onceThawed = <Value>(work: () => Value) =>
      new Promise<Value>((resolve) => held.push(() => resolve(work())));
    const store: ReplayStore = {
      setIfAbsent: (key) => onceThawed(() => !keys.has(key) && keys.add(key).size > 0),
      delete: (key) => onceThawed(() => keys.delete(key)),
    };
    const thaw = async () => {
      while (held.length > 0) {
        held.shift()?.();
        await vi.advanceTimersByTimeAsync(0);
      }
    };
    return { store, keys, thaw, pending: () => held.length };
  }

  const handling = async (
    guard: ReturnType<typeof createReplayGuard>,
    store: ReturnType<typeof frozen>,
    ms: number,
  ) => {
    const handle = vi.fn(() => 'done');
    const before = store.pending();
    const outcome = guard.once({ verified, signature }, handle).catch((error: unknown) => error);
    await until(() => store.pending() > before);
    await vi.advanceTimersByTimeAsync(ms);
    return { handle, outcome };
  };

  test('throws after 2 s, and never handles the delivery', async () => {
    const redis = frozen();
    const guard = createReplayGuard({ store: redis.store });
    const { handle, outcome } = await handling(guard, redis, 2000);
    expect(await outcome).toMatchObject({ code: 'store_timeout' });
    await redis.thaw();
    expect(handle).not.toHaveBeenCalled();
    expect(redis.keys.size).toBe(0);
  });

  test('throws for the next request until the late claim is released', async () => {
    const redis = frozen();
    const guard = createReplayGuard({ store: redis.store });
    await (await handling(guard, redis, 2000)).outcome;
    const second = guard.once({ verified, signature }, () => 'second');
    await expect(second).rejects.toMatchObject({ code: 'store_timeout' });
    await until(() => redis.pending() === 1);
    await redis.thaw();
    expect(redis.keys.size).toBe(0);
    const third = guard.once({ verified, signature }, () => 'third');
    const fourth = guard.once({ verified, signature }, () => 'fourth');
    await until(() => redis.pending() === 2);
    await redis.thaw();
    expect(await third).toEqual({ replay: false, result: 'third' });
    expect(await fourth).toEqual({ replay: true });
  });

  test('does not handle a delivery that became too old in the meantime', async () => {
    const redis = frozen();
    const guard = createReplayGuard({ store: redis.store });
    const handle = vi.fn();
    const old = { ...verified, ageSeconds: 299 };
    const outcome = guard.once({ verified: old, signature }, handle).catch((error: unknown) => error);
    await until(() => redis.pending() > 0);
    await vi.advanceTimersByTimeAsync(1500);
    await redis.thaw();
    expect(await outcome).toMatchObject({ code: 'too_old' });
    expect(handle).not.toHaveBeenCalled();
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('rejects the timeoutMs %j', (timeoutMs) => {
    expect(() => createReplayGuard({ timeoutMs })).toThrow(expect.objectContaining({ code: 'bad_option' }));
  });
});

describe('once', () => {
  const delivery = { verified, signature, bytes: new Uint8Array() };

  test('releases the delivery for the next request if the handler fails', async () => {
    const guard = createReplayGuard();
    const fails = () => Promise.reject(new Error('database down'));
    await expect(guard.once(delivery, fails)).rejects.toThrow('database down');
    expect(await guard.once(delivery, () => 'done')).toEqual({ replay: false, result: 'done' });
    expect(await guard.once(delivery, () => 'done')).toEqual({ replay: true });
  });
});

describe('the memory store', () => {
  test('forgets a key exactly when it expires', async () => {
    let time = 5;
    const store = memoryStore({ now: () => time });
    expect(await store.setIfAbsent('a', 100)).toBe(true);
    time = 104;
    expect(await store.setIfAbsent('a', 100)).toBe(false);
    time = 105;
    expect(await store.setIfAbsent('a', 100)).toBe(true);
    time = 204;
    expect(await store.setIfAbsent('a', 100)).toBe(false);
  });

  test('throws when it is full, and has room again when entries expire', async () => {
    let time = 0;
    const store = memoryStore({ now: () => time, maxEntries: 2 });
    await store.setIfAbsent('long', 1000);
    await store.setIfAbsent('short', 10);
    await expect(store.setIfAbsent('c', 10)).rejects.toMatchObject({ code: 'bad_option' });
    expect(await store.setIfAbsent('long', 10)).toBe(false);
    time = 10;
    expect(await store.setIfAbsent('c', 10)).toBe(true);
    expect(await store.setIfAbsent('long', 10)).toBe(false);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects the maxEntries %d', (maxEntries) => {
    expect(() => memoryStore({ maxEntries })).toThrow(expect.objectContaining({ code: 'bad_option' }));
  });
});
