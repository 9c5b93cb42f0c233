import { ownOptions } from '../own-options.ts';
import { WebhookVerificationError } from './error.ts';

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
    throw new WebhookVerificationError('bad_option', 'maxEntries must be a whole number above 0');
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
        throw new WebhookVerificationError(
          'bad_option',
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
