import { BadRequest } from './http.ts';
import { type HubRedis, isRefused } from './redis.ts';

/**
 * Keeps detached gates: the entry of each as text, and apart from it its sealed state, which is long. '' stands for none.
 * Without Redis, a call fails: a gate must never be known to one hub alone.
 */
export interface GateStore {
  /** Returns the wall time of the clock that all hubs on this store share, in milliseconds since the epoch. */
  now(): Promise<number>;
  entries(): Promise<readonly string[]>;
  get(id: string): Promise<readonly [entry: string, sealed: string]>;
  /**
   * Puts an entry in place of another, or removes it. Returns false, and changes nothing, if it is no longer that one.
   * @param sealed '' leaves the sealed state as it is
   */
  replace(id: string, before: string, after: string, sealed: string): Promise<boolean>;
}

export function memoryGates(now: () => number): GateStore {
  const kept = new Map<string, readonly [entry: string, sealed: string]>();
  return {
    now: async () => now(),
    entries: async () => [...kept.values()].map(([entry]) => entry),
    get: async (id) => kept.get(id) ?? ['', ''],
    async replace(id, before, after, sealed) {
      const [entry, old] = kept.get(id) ?? ['', ''];
      if (entry !== before) return false;
      if (after === '') kept.delete(id);
      else kept.set(id, [after, sealed === '' ? old : sealed]);
      return true;
    },
  };
}

/** Longer than any gate is kept: hubs that are gone leave nothing. */
const lifeMs = 10 * 24 * 60 * 60_000;

export function redisGates(redis: HubRedis): GateStore {
  const working = async <Value>(call: Promise<Value>): Promise<Value> => {
    try {
      return await call;
    } catch (error) {
      if (isRefused(error)) throw error;
      throw new BadRequest(503, 'Redis does not work');
    }
  };
  return {
    now: () => working(redis.time()),
    entries: () => working(redis.gateEntries()),
    get: (id) => working(redis.gate(id)),
    replace: (id, before, after, sealed) =>
      working(redis.replaceGate(id, before, after, sealed, String(lifeMs))),
  };
}
