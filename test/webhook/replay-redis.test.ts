import { createClient } from '@redis/client';
import type { Redis } from 'ioredis';
import { createClient as createClient4 } from 'redis4';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReplayGuard, redisStore } from '../../src/webhook/replay.ts';
import { isRedisMissing, startRedis, type TestRedis } from '../hub/redis.ts';
import { clientKinds, connectRedis } from './redis-clients.ts';

const signature = (round: number) => `sha256=${round.toString(16).padStart(64, '0')}`;
const verified = { timestamp: '2026-01-15T12:00:00.000Z', secretIndex: 0, ageSeconds: 0 };

describe.skipIf(isRedisMissing)('redisStore on a real Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  describe.each(clientKinds)('with %s', (kind) => {
    test('sets a key once, with its time to live, and releases it', async () => {
      const { client, close } = await connectRedis(kind, redis.port);
      const prefix = `${kind}:`;
      const guard = createReplayGuard({ store: redisStore(client), prefix });
      expect(await guard.check(verified, signature(1))).toBe('first');
      expect(await guard.check(verified, signature(1))).toBe('replay');
      const inspector = await connectRedis('ioredis', redis.port);
      const plain = inspector.client as unknown as Redis;
      const [key = ''] = await plain.keys(`${prefix}*`);
      const left = await plain.pttl(key);
      expect(left).toBeGreaterThan(410_000);
      expect(left).toBeLessThanOrEqual(420_000);
      await guard.release(verified, signature(1));
      expect(await plain.keys(`${prefix}*`)).toEqual([]);
      expect(await guard.check(verified, signature(1))).toBe('first');
      await inspector.close();
      await close();
    });

    test('times out if Redis does not respond, and accepts the next request as the first', async () => {
      const { client, close } = await connectRedis(kind, redis.port);
      const prefix = `${kind}-frozen:`;
      const patient = createReplayGuard({ store: redisStore(client), prefix });
      const impatient = createReplayGuard({ store: redisStore(client), prefix, timeoutMs: 100 });
      expect(await patient.check(verified, signature(2))).toBe('first');
      redis.freeze();
      try {
        for (const attempt of [3, 3, 2]) {
          await expect(impatient.check(verified, signature(attempt))).rejects.toMatchObject({
            code: 'store_timeout',
          });
        }
      } finally {
        redis.thaw();
      }
      expect(await patient.check(verified, signature(2))).toBe('replay');
      expect(await patient.check(verified, signature(3))).toBe('first');
      expect(await patient.check(verified, signature(3))).toBe('replay');
      await close();
    });

    test('recognises its own key when the client repeats the command', async () => {
      const { client, close } = await connectRedis(kind, redis.port);
      const plain = client as unknown as Record<
        'set' | 'get' | 'del',
        (...args: unknown[]) => Promise<unknown>
      >;
      const twice = {
        get: (key: string) => plain.get(key),
        del: (key: string) => plain.del(key),
        async set(...args: unknown[]) {
          await plain.set(...args);
          return plain.set(...args);
        },
        [kind === 'ioredis' ? 'call' : 'sendCommand']: () => undefined,
      };
      const store = redisStore(twice);
      expect(await store.setIfAbsent(`${kind}-twice`, 1000)).toBe(true);
      expect(await store.setIfAbsent(`${kind}-twice`, 1000)).toBe(false);
      await close();
    });
  });

  test.each([
    ['node-redis 6', 'ioredis'],
    ['node-redis 4', 'node-redis 6'],
  ] as const)('lets exactly one of two racing receivers (%s, %s) win, in 50 rounds', async (...kinds) => {
    const clients = await Promise.all(kinds.map((kind) => connectRedis(kind, redis.port)));
    const guards = clients.map(({ client }) =>
      createReplayGuard({ store: redisStore(client), prefix: `${kinds.join()}:` }),
    );
    for (let round = 0; round < 50; round += 1) {
      // The receivers take turns in going first.
      const order = round % 2 === 0 ? guards : guards.toReversed();
      const verdicts = await Promise.all(order.map((guard) => guard.check(verified, signature(round))));
      expect(verdicts.toSorted()).toEqual(['first', 'replay']);
    }
    for (const { close } of clients) await close();
  });
});

/** A client with these properties whose `set` and `get` return these values. */
const answering = (set: unknown, get: unknown, more: object = {}) => ({
  set: async () => set,
  get: async () => get,
  del: async () => 1,
  ...more,
});

describe('redisStore', () => {
  test.each([
    ['redis 3', { set() {}, get() {}, del() {}, sendCommand() {}, multi() {}, options: {} }],
    ['node-redis 4 in legacyMode', createClient4({ legacyMode: true })],
    ['.legacy() of node-redis 6', createClient().legacy()],
  ])('rejects a client that takes callbacks: %s', (_what, client) => {
    expect(() => redisStore(client as never)).toThrow(
      expect.objectContaining({ code: 'bad_option', message: expect.stringContaining('callbacks') }),
    );
  });

  test.each([
    ['OK', 'OK', null, 'first'],
    ['a Buffer of OK', Buffer.from('OK'), null, 'first'],
    ['null, and the key has another value', null, 'other', 'replay'],
    ['null, and the key has expired', null, null, 'replay'],
  ])('understands %s', async (_what, set, get, outcome) => {
    const guard = createReplayGuard({ store: redisStore(answering(set, get, { sendCommand() {} })) });
    expect(await guard.check(verified, signature(7))).toBe(outcome);
  });

  test.each([
    ['an object', {}],
    [
      'a client without the methods of node-redis or ioredis',
      { set: async () => 'OK', get: async () => null, del: async () => 1 },
    ],
  ])('rejects an unknown client: %s', (_what, client) => {
    expect(() => redisStore(client as never)).toThrow(expect.objectContaining({ code: 'bad_option' }));
  });
});
