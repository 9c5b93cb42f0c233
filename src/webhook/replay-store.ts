import { badOption, WebhookVerificationError } from './error.ts';

/** Remembers the deliveries that were seen. */
export interface ReplayStore {
  /** Sets a key for `ttlMs` unless it exists, and returns whether it did. Of concurrent calls exactly one gets true. */
  setIfAbsent(key: string, ttlMs: number): Promise<boolean>;
  delete(key: string): Promise<unknown>;
}

/** The options of a memory store. */
export interface MemoryStoreOptions {
  /** The maximum number of deliveries to remember; default 100,000, about 20 MB. */
  maxEntries?: number | undefined;
  /** Returns milliseconds of a monotonic clock; default `performance.now`. */
  now?: (() => number) | undefined;
}

/**
 * Creates a store for one process. When it is full of deliveries that have not expired, it throws: forgetting one early
 * would let a replay pass.
 * @example
 * ```ts
 * import { createReplayGuard, memoryStore } from 'rungate/webhook/replay';
 *
 * const guard = createReplayGuard({ store: memoryStore({ maxEntries: 10_000 }) });
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): ReplayStore {
  const { maxEntries = 100_000, now = () => performance.now() } = options;
  if (!(Number.isInteger(maxEntries) && maxEntries > 0)) {
    badOption('maxEntries must be a whole number above 0');
  }
  const expiries = new Map<string, number>();

  return {
    async setIfAbsent(key, ttlMs) {
      const time = now();
      // With one `ttlMs`, entries expire in the order of insertion: the first live one ends the search, unless there is no room.
      for (const [known, expiry] of expiries) {
        if (expiry <= time) expiries.delete(known);
        else if (expiries.size < maxEntries) break;
      }
      const expiry = expiries.get(key);
      if (expiry !== undefined && expiry > time) return false;
      expiries.delete(key);
      if (expiries.size >= maxEntries) {
        badOption(
          `the replay store is full: ${maxEntries} deliveries have not expired yet`,
          'raise maxEntries, or use redisStore',
        );
      }
      expiries.set(key, time + ttlMs);
      return true;
    },
    async delete(key) {
      expiries.delete(key);
    },
  };
}

/** A connected client: node-redis 4 or later, or ioredis, or a cluster of either. */
export interface RedisClient {
  set(...args: never): Promise<unknown>;
  get(...args: never): Promise<unknown>;
  del(...args: never): Promise<unknown>;
}

/** The methods that every supported client has, and what tells the kinds of clients apart. */
interface Client extends Record<'call' | 'sendCommand' | 'connect' | 'multi', unknown> {
  options?: { legacyMode?: unknown } | undefined;
  set(key: string, value: string, ...options: unknown[]): Promise<unknown>;
  get(key: string): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

/**
 * Returns the options of `SET key value NX PX ttl` for a client.
 * @throws `bad_option` for an unknown client, which might ignore an option and so let every replay pass
 */
function setOptions({ call, sendCommand, connect, multi, options }: Client): (ttlMs: number) => unknown[] {
  if (typeof call === 'function') return (ttlMs) => ['PX', ttlMs, 'NX'];
  // The commands of redis 3, and of a later one in legacy mode, return nothing.
  if (options?.legacyMode === true || (typeof multi === 'function' && typeof connect !== 'function')) {
    badOption(
      'the Redis client takes callbacks instead of returning promises',
      'pass a client of node-redis 4 or later without legacyMode and legacy(), or client.v4',
    );
  }
  if (typeof sendCommand === 'function') {
    // Version 4 reads NX and PX; from version 5 on, condition and expiration take precedence.
    return (ttlMs) => [{ NX: true, PX: ttlMs, condition: 'NX', expiration: { type: 'PX', value: ttlMs } }];
  }
  badOption(
    'the Redis client is neither node-redis nor ioredis',
    'write your own store: { setIfAbsent, delete }',
  );
}

/**
 * Creates a store that receivers on several machines share.
 * @example
 * ```ts
 * import { createClient } from '@redis/client';
 * import { createReplayGuard, redisStore } from 'rungate/webhook/replay';
 *
 * const redis = await createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1' }).connect();
 * const guard = createReplayGuard({ store: redisStore(redis) });
 * ```
 */
export function redisStore(redis: RedisClient): ReplayStore {
  const client = redis as Client;
  const optionsFor = setOptions(client);
  return {
    async setIfAbsent(key, ttlMs) {
      const token = crypto.randomUUID();
      const result = await client.set(key, token, ...optionsFor(Math.ceil(ttlMs)));
      if (String(result) === 'OK') return true;
      // A client that reconnects repeats the command, and may find the key that it set itself.
      const found = result === null ? await client.get(key) : undefined;
      if (found === undefined) badOption('the Redis client returned no response, or an unknown one');
      return String(found) === token;
    },
    delete: (key) => client.del(key),
  };
}

export function storeTimeout(timeoutMs: number): WebhookVerificationError {
  return new WebhookVerificationError(
    'store_timeout',
    `the replay store did not respond within ${timeoutMs} ms`,
    'check the connection to the store; the delivery was not handled, so respond with 500 to make the sender retry',
  );
}

/** @throws `store_timeout` when the call does not end in time, because Redis clients queue commands while Redis is away */
export async function orTimeout<Value>(call: Value | Promise<Value>, timeoutMs: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(storeTimeout(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([call, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
