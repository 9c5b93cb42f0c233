import { badOption, WebhookVerificationError } from './error.ts';
import { limitOf, type Verified } from './options.ts';
import { memoryStore, orTimeout, type ReplayStore, storeTimeout } from './replay-store.ts';
import { parseSignature, toHex } from './verify.ts';

export {
  type MemoryStoreOptions,
  memoryStore,
  type RedisClient,
  type ReplayStore,
  redisStore,
} from './replay-store.ts';

/** The options of a replay guard. */
export interface ReplayGuardOptions {
  /** Default: the memory of this process. */
  store?: ReplayStore | undefined;
  /** The same values that you pass to `verify`; default 300 and 60. Null requires `ttlSeconds`. */
  maxAge?: number | null | undefined;
  maxFuture?: number | null | undefined;
  /** How long a delivery is remembered, at least `maxAge + maxFuture`; default `maxAge + maxFuture + 60`. */
  ttlSeconds?: number | undefined;
  /** The prefix of the keys, different for each receiver that shares the store. Default `rungate:replay:`. */
  prefix?: string | undefined;
  /** The timeout of each call of the store in milliseconds; default 2000. */
  timeoutMs?: number | undefined;
}

/** The outcome of `once`: the result of the handler, or that the delivery is a replay. */
export type Once<Result> = { replay: false; result: Result } | { replay: true };

/** Lets each delivery be handled only once. */
export interface ReplayGuard {
  /**
   * Of several concurrent calls for a signature (`sha256=<hex>`), exactly one gets `first`.
   * @throws `store_timeout`, errors of the store, and `too_old` if the delivery has become too old in the meantime
   */
  check(verified: Verified, signature: string): Promise<'first' | 'replay'>;
  /** Forgets a delivery, so that the sender's next request counts as the first. */
  release(verified: Verified, signature: string): Promise<void>;
  /** Handles a delivery unless it is a replay. If `handle` throws, releases the delivery and rethrows the error. */
  once<Delivered extends { readonly verified: Verified; readonly signature: string }, Result>(
    delivery: Delivered,
    handle: (delivery: Delivered) => Result | Promise<Result>,
  ): Promise<Once<Result>>;
}

/** Covers the time between `verify` and `check`, and the difference between the clocks of two receivers. */
const marginSeconds = 60;

/** @param window how many seconds `verify` accepts a delivery; infinite if it accepts any age */
function ttlOf(window: number, ttlSeconds = window + marginSeconds): number {
  const least = Number.isFinite(window) ? window : Number.MIN_VALUE;
  if (ttlSeconds >= least && Number.isFinite(ttlSeconds)) return ttlSeconds;
  badOption(
    'ttlSeconds must be at least maxAge + maxFuture, because verify accepts a delivery for that long',
    'omit ttlSeconds; without maxAge or maxFuture, set how long a delivery is remembered',
  );
}

function timeoutOf(ms = 2000): number {
  // With a larger delay, a timer fires at once.
  if (ms > 0 && ms < 2 ** 31) return ms;
  badOption('timeoutMs must be a number of milliseconds above 0');
}

/** Returns a hash of the signature and its timestamp. */
async function keyOf({ timestamp }: Verified, signature: string): Promise<string> {
  const mac = parseSignature(signature);
  if (mac === null) badOption('pass the signature of the delivery, sha256=<hex>');
  const bytes = new TextEncoder().encode(`${timestamp}.${mac}`);
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

/** Claims deliveries in a store, and releases them. Each call of the store has a timeout. */
function claimsIn(store: ReplayStore, ttlMs: number, timeoutMs: number) {
  const late = new Set<string>();

  async function claimNow(key: string): Promise<boolean> {
    const claimed: unknown = await store.setIfAbsent(key, ttlMs);
    if (typeof claimed === 'boolean') return claimed;
    badOption('setIfAbsent of the replay store must return a boolean', 'see ReplayStore for its contract');
  }

  async function release(key: string): Promise<void> {
    await orTimeout(store.delete(key), timeoutMs);
  }

  async function claim(key: string): Promise<boolean> {
    // Until the late claim is released, the delivery would be taken for a replay, although nobody has handled it.
    if (late.has(key)) throw storeTimeout(timeoutMs);
    const claimed = claimNow(key);
    try {
      return await orTimeout(claimed, timeoutMs);
    } catch (error) {
      late.add(key);
      claimed
        .then((isFirst) => (isFirst ? release(key) : undefined))
        // A claim that cannot be released expires.
        .catch(() => {})
        .finally(() => late.delete(key));
      throw error;
    }
  }

  return { claim, release };
}

/**
 * Creates a guard that lets each delivery be handled only once.
 * @example
 * ```ts
 * import { receive } from 'rungate/webhook/fetch';
 * import { createReplayGuard } from 'rungate/webhook/replay';
 *
 * const guard = createReplayGuard();
 * export async function POST(request: Request): Promise<Response> {
 *   const delivery = await receive(request, { secrets: process.env.HOOK_SECRET });
 *   const { replay } = await guard.once(delivery, ({ json }) => console.log(json()));
 *   return new Response(replay ? 'known' : 'handled');
 * }
 * ```
 */
export function createReplayGuard(options: ReplayGuardOptions = {}): ReplayGuard {
  const { store = memoryStore(), prefix = 'rungate:replay:' } = options;
  const maxAge = limitOf('maxAge', options.maxAge, 300);
  const maxFuture = limitOf('maxFuture', options.maxFuture, 60);
  const ttlMs = ttlOf(maxAge + maxFuture, options.ttlSeconds) * 1000;
  const claims = claimsIn(store, ttlMs, timeoutOf(options.timeoutMs));

  /** Rejects a delivery outside the guard's window, since the store may have forgotten it already. */
  const keyInWindow = async (verified: Verified, signature: string): Promise<string> => {
    const { ageSeconds } = verified;
    if (ageSeconds <= maxAge && -ageSeconds <= maxFuture) {
      return prefix + (await keyOf(verified, signature));
    }
    badOption(
      'verify accepted a delivery that the replay guard may have forgotten: verify and the guard have a different maxAge or maxFuture',
      'pass the same maxAge and maxFuture to createReplayGuard and verify',
    );
  };

  const guard: ReplayGuard = {
    async check(verified, signature) {
      const began = performance.now();
      if (!(await claims.claim(await keyInWindow(verified, signature)))) return 'replay';
      const ageSeconds = verified.ageSeconds + (performance.now() - began) / 1000;
      if (ageSeconds <= maxAge) return 'first';
      throw new WebhookVerificationError(
        'too_old',
        `the delivery became older than ${maxAge} s while waiting for the replay store`,
      );
    },
    async release(verified, signature) {
      await claims.release(await keyInWindow(verified, signature));
    },
    async once(delivery, handle) {
      const { verified, signature } = delivery;
      if ((await guard.check(verified, signature)) === 'replay') return { replay: true };
      try {
        return { replay: false, result: await handle(delivery) };
      } catch (error) {
        await guard.release(verified, signature).catch((failed: unknown) => {
          throw new AggregateError(
            [error, failed],
            'the handler failed and the delivery could not be released: a retry will be taken for a replay',
          );
        });
        throw error;
      }
    },
  };
  return guard;
}
