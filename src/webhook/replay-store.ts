import { ownOptions } from '../own-options.ts';
import { badOption, WebhookVerificationError } from './error.ts';

/** Where it is kept which deliveries were seen. */
export interface ReplayStore {
  /** Whether the key was not there, and is now, for `ttlMs`. Of many calls at once, one gets true. */
  setIfAbsent(key: string, ttlMs: number): Promise<boolean>;
  delete(key: string): Promise<unknown>;
}

/** How much a memory store may keep. */
export interface MemoryStoreOptions {
  /** How many deliveries are remembered at once; default 100,000, about 20 MB. */
  maxEntries?: number | undefined;
  /** Milliseconds on a clock that never jumps; default the system's. */
  now?: (() => number) | undefined;
}

/**
 * A store for one process. When it is full of what has not expired it refuses, for to forget a delivery early would be to
 * let its replay pass.
 */
export function memoryStore(options: MemoryStoreOptions = {}): ReplayStore {
  const { maxEntries = 100_000, now = () => performance.now() } = ownOptions(options, ['maxEntries', 'now']);
  if (!(Number.isInteger(maxEntries) && maxEntries > 0)) {
    badOption('maxEntries must be a whole number above 0');
  }
  const expiries = new Map<string, number>();

  /** Entries are in the order they came in, which is the order they expire in while `ttlMs` is one. */
  const dropExpired = (time: number, all: boolean) => {
    for (const [key, expiry] of expiries) {
      if (expiry <= time) expiries.delete(key);
      else if (!all) return;
    }
  };

  return {
    async setIfAbsent(key, ttlMs) {
      const time = now();
      dropExpired(time, false);
      const expiry = expiries.get(key);
      if (expiry !== undefined && expiry > time) return false;
      if (expiries.size >= maxEntries) dropExpired(time, true);
      if (expiries.size >= maxEntries) {
        badOption(
          `the replay store is full: ${maxEntries} deliveries have not expired yet`,
          'raise maxEntries, or keep them in Redis',
        );
      }
      expiries.delete(key);
      expiries.set(key, time + ttlMs);
      return true;
    },
    async delete(key) {
      expiries.delete(key);
    },
  };
}

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
  badOption(
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

function timeout(limitMs: number): WebhookVerificationError {
  return new WebhookVerificationError(
    'store_timeout',
    `the replay store did not answer within ${limitMs} ms`,
    'check the connection to the store; the delivery was not handled: answer with 500, and the sender tries again',
  );
}

/** @throws `store_timeout` when the answer takes longer */
function within<Value>(answer: Promise<Value>, limitMs: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timeout(limitMs)), limitMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * A store that answers within a time limit or fails: Redis clients keep commands while Redis is away, and wait without an end.
 * A claim that is made too late is taken back, or taken over by the sender's next attempt at the same delivery.
 * @param limitMs milliseconds for each call
 */
export function limited(store: ReplayStore, limitMs: number): ReplayStore {
  const late = new Map<string, Promise<boolean>>();

  const leave = (key: string, answer: Promise<boolean>) => {
    late.set(key, answer);
    const settled = async (claimed: boolean) => {
      if (late.get(key) !== answer) return;
      late.delete(key);
      if (claimed) await store.delete(key);
    };
    // The caller has had an error already; a claim that cannot be taken back expires.
    answer.then(settled, () => settled(false)).catch(() => {});
  };

  return {
    async setIfAbsent(key, ttlMs) {
      const answer = late.get(key) ?? Promise.resolve(store.setIfAbsent(key, ttlMs));
      late.delete(key);
      try {
        return await within(answer, limitMs);
      } catch (error) {
        if (WebhookVerificationError.is(error) && error.code === 'store_timeout') leave(key, answer);
        throw error;
      }
    },
    async delete(key) {
      return within(Promise.resolve(store.delete(key)), limitMs);
    },
  };
}
