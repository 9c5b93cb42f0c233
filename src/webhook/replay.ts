import { ownOptions } from '../own-options.ts';
import { badOption, WebhookVerificationError } from './error.ts';
import type { Verified } from './options.ts';
import { limited, memoryStore, type ReplayStore } from './replay-store.ts';
import { parseSignature, toHex } from './verify.ts';

export {
  type MemoryStoreOptions,
  memoryStore,
  type RedisClient,
  type ReplayStore,
  redisStore,
} from './replay-store.ts';

/** What a replay guard remembers, and where. */
export interface ReplayGuardOptions {
  /** Default: this process's memory. */
  store?: ReplayStore | undefined;
  /** What `verify` is called with; default 300 and 60, as there. Null needs `ttlSeconds`. */
  maxAge?: number | null | undefined;
  maxFuture?: number | null | undefined;
  /** How long a delivery is remembered; default, and at the least, as long as `verify` would accept it, and a minute. */
  ttlSeconds?: number | undefined;
  /** What the keys begin with; one for each receiver that shares a store. Default `rungate:replay:`. */
  prefix?: string | undefined;
  /** Milliseconds that the store has for each call; default 2000. */
  timeoutMs?: number | undefined;
}

/** What tells one delivery from another: its signature (`sha256=<hex>`), or its body. Use one of them throughout. */
export type Proof = string | Uint8Array;

/** What came of a delivery: the result of what it set off, or nothing since it came before. */
export type Once<Result> = { replay: false; result: Result } | { replay: true };

/** Has each delivery set something off once. */
export interface ReplayGuard {
  /**
   * Whether a delivery that was verified is seen for the first time. Of many at once, one is.
   * @throws `store_timeout`, what the store throws, and `too_old` when the delivery became that in the meantime
   */
  check(verified: Verified, proof: Proof): Promise<'first' | 'replay'>;
  /** Forgets a delivery, so that the sender's next attempt at it is the first again. */
  release(verified: Verified, proof: Proof): Promise<void>;
  /**
   * Handles a delivery unless it is a replay. When `handle` throws, the delivery is released and the error thrown on.
   */
  once<Delivered extends { readonly verified: Verified; readonly signature: string }, Result>(
    delivery: Delivered,
    handle: (delivery: Delivered) => Result | Promise<Result>,
  ): Promise<Once<Result>>;
}

const encoder = new TextEncoder();
/** Bytes of this realm or another. */
const isBytes = (value: unknown): value is Uint8Array => ArrayBuffer.isView(value);

/** Between `verify` and `check` time passes, and the clocks of two receivers differ. */
const marginSeconds = 60;

function seconds(name: string, value: unknown, usual: number): number {
  if (value === undefined) return usual;
  if (value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && value > 0) return value;
  badOption(`${name} must be a number of seconds above 0`);
}

function ttlOf(given: unknown, window: number): number {
  if (given === undefined) {
    if (window < Number.POSITIVE_INFINITY) return window + marginSeconds;
    badOption('without a maxAge and a maxFuture there is no end to remembering', 'set ttlSeconds');
  }
  const ttl = seconds('ttlSeconds', given ?? 0, 0);
  if (ttl < Number.POSITIVE_INFINITY && (ttl >= window || window === Number.POSITIVE_INFINITY)) return ttl;
  badOption(
    `ttlSeconds must be ${window} at the least: so long could verify accept a delivery again`,
    'leave it out, or lower maxAge',
  );
}

/** A timer's largest delay: beyond it, it fires at once. */
const longestTimer = 2 ** 31 - 1;

function timeLimit(value: unknown = 2000): number {
  if (typeof value === 'number' && value > 0 && value <= longestTimer) return value;
  badOption('timeoutMs must be a number of milliseconds above 0');
}

/** What is hashed: the MAC, whatever case its digits came in, or the message that was signed. */
function identity({ timestamp }: Verified, proof: Proof): Uint8Array<ArrayBuffer> {
  const start = encoder.encode(`${timestamp}.`);
  const mac = typeof proof === 'string' ? parseSignature(proof) : null;
  const rest: unknown = mac === null ? proof : encoder.encode(mac);
  if (!isBytes(rest)) badOption('a delivery is told by its signature, sha256=<hex>, or by its bytes');
  const bytes = new Uint8Array(start.length + rest.length);
  bytes.set(start);
  bytes.set(rest, start.length);
  return bytes;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

/** Tells a delivery that was handled already from one that was not. */
export function createReplayGuard(given: ReplayGuardOptions = {}): ReplayGuard {
  const options = ownOptions(given, ['store', 'maxAge', 'maxFuture', 'ttlSeconds', 'prefix', 'timeoutMs']);
  const { prefix = 'rungate:replay:' } = options;
  const store = limited(options.store ?? memoryStore(), timeLimit(options.timeoutMs));
  const maxAge = seconds('maxAge', options.maxAge, 300);
  const maxFuture = seconds('maxFuture', options.maxFuture, 60);
  const ttlMs = ttlOf(options.ttlSeconds, maxAge + maxFuture) * 1000;

  /** A delivery that `verify` let pass outside of the guard's window could have been forgotten already. */
  const keyOf = async (verified: Verified, proof: Proof): Promise<string> => {
    const { ageSeconds } = verified;
    if (!(ageSeconds <= maxAge && -ageSeconds <= maxFuture)) {
      badOption(
        'verify accepts what the replay guard may have forgotten: their maxAge or maxFuture differ',
        'give createReplayGuard the maxAge and maxFuture of verify',
      );
    }
    return prefix + (await sha256(identity(verified, proof)));
  };

  const guard: ReplayGuard = {
    async check(verified, proof) {
      const began = performance.now();
      const key = await keyOf(verified, proof);
      if (!(await store.setIfAbsent(key, ttlMs))) return 'replay';
      const ageSeconds = verified.ageSeconds + (performance.now() - began) / 1000;
      if (ageSeconds <= maxAge) return 'first';
      throw new WebhookVerificationError(
        'too_old',
        `the delivery became older than ${maxAge} s while the replay store was asked`,
      );
    },
    async release(verified, proof) {
      await store.delete(await keyOf(verified, proof));
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
            'the handling failed, and the delivery could not be released: its retry will be taken for a replay',
          );
        });
        throw error;
      }
    },
  };
  return guard;
}
