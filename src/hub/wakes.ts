/** The time at which a delivery named an id, in milliseconds since the epoch on the clock of the store. */
export interface Wake {
  id: string;
  at: number;
}

/** The ids that deliveries have named. One hub keeps them in memory; several share them in Redis. */
export interface WakeStore {
  /** Remembers ids for a day, and passes them to the listeners of every hub. */
  announce(ids: readonly string[]): Promise<void>;
  /** Returns those of the ids that a delivery named at or after a time. */
  namedSince(ids: readonly string[], since: number): Promise<Wake[]>;
  /** Calls back for every id that any hub announces. Returns a function that ends that. */
  listen(listener: (wake: Wake) => void): () => void;
}

export const rememberedMs = 24 * 60 * 60_000;
/** Ids that are remembered at most: the oldest are forgotten first. */
export const mostRemembered = 100_000;

export interface MemoryWakes extends WakeStore {
  /** Remembers an id that another store has announced. */
  remember(wake: Wake): void;
}

/** @param now wall-clock milliseconds since the epoch */
export function memoryWakes(now: () => number): MemoryWakes {
  const named = new Map<string, number>();
  const listeners = new Set<(wake: Wake) => void>();
  const remember = ({ id, at }: Wake) => {
    // In the order of their last naming.
    named.delete(id);
    named.set(id, at);
    for (const [oldest, time] of named) {
      if (named.size <= mostRemembered && time >= at - rememberedMs) break;
      named.delete(oldest);
    }
  };
  return {
    remember,
    async announce(ids) {
      const at = now();
      for (const id of ids) remember({ id, at });
      for (const id of ids) for (const listener of listeners) listener({ id, at });
    },
    async namedSince(ids, since) {
      const oldest = Math.max(since, now() - rememberedMs);
      return ids.flatMap((id) => {
        const at = named.get(id);
        return at !== undefined && at >= oldest ? [{ id, at }] : [];
      });
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
