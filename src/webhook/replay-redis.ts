import { WebhookVerificationError } from './error.ts';
import type { ReplayStore } from './replay-store.ts';

/** A connected client of the user's: node-redis 4 or later, or ioredis; a cluster of either too. */
export interface RedisClient {
  set(...args: never): Promise<unknown>;
  get(...args: never): Promise<unknown>;
  del(...args: never): Promise<unknown>;
}

/** The same in the words that all of them have. */
interface Client {
  call?: unknown;
  sendCommand?: unknown;
  set(key: string, value: string, ...options: unknown[]): Promise<unknown>;
  get(key: string): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

type SetIfAbsent = (key: string, value: string, ttlMs: number) => Promise<unknown>;

/**
 * `SET key value NX PX ttl` in the words of the client. A client that is not known is refused: one that passed over an
 * option it has no word for would say OK to every replay.
 */
function setter(client: Client): SetIfAbsent {
  const given: Client | null | undefined = client;
  if (typeof given?.set === 'function') {
    if (typeof given.call === 'function') {
      return (key, value, ttlMs) => given.set(key, value, 'PX', ttlMs, 'NX');
    }
    if (typeof given.sendCommand === 'function') {
      // Both of its forms: version 4 knows the first, and from 5 on the second goes first.
      return (key, value, ttlMs) =>
        given.set(key, value, {
          NX: true,
          PX: ttlMs,
          condition: 'NX',
          expiration: { type: 'PX', value: ttlMs },
        });
    }
  }
  throw new WebhookVerificationError(
    'bad_option',
    'the Redis client is neither node-redis nor ioredis',
    'write a store of your own: { setIfAbsent, delete }',
  );
}

/** A store for receivers on many machines. */
export function redisStore(redis: RedisClient): ReplayStore {
  const client = redis as Client;
  const set = setter(client);
  return {
    async setIfAbsent(key, ttlMs) {
      const token = crypto.randomUUID();
      const reply = await set(key, token, Math.ceil(ttlMs));
      if (String(reply) === 'OK') return true;
      // A client that lost its connection sends the command again, and may meet the key that it set itself.
      return String(await client.get(key)) === token;
    },
    delete: (key) => client.del(key),
  };
}
