import type { ReplayStore } from '../webhook/replay.ts';
import { type Health, withFallback } from './health.ts';
import type { MemoryWakes, WakeStore } from './wakes.ts';

/**
 * Returns wake-ups that all hubs share while Redis works. Without Redis a hub wakes the gates that are connected to it, and
 * remembers the ids it has heard of.
 */
export function failoverWakes(shared: WakeStore, local: MemoryWakes, health: Health): WakeStore {
  const inEither = withFallback<Pick<WakeStore, 'announce' | 'namedSince'>>(shared, local, health);
  return {
    announce: (ids, kind) => inEither((store) => store.announce(ids, kind)),
    async namedSince(ids, since) {
      const known = await local.namedSince(ids, since);
      const latest = new Map(known.map((wake) => [wake.id, wake]));
      const others = await inEither((store) => store.namedSince(ids, since));
      for (const wake of others) if (wake.at >= (latest.get(wake.id)?.at ?? 0)) latest.set(wake.id, wake);
      return [...latest.values()];
    },
    listen(listener) {
      const ends = [
        local.listen(listener),
        shared.listen((wake) => {
          local.remember(wake);
          listener(wake);
        }),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** Returns a store of deliveries that all hubs share while Redis works. */
export function failoverReplays(shared: ReplayStore, local: ReplayStore, health: Health): ReplayStore {
  const inEither = withFallback(shared, local, health);
  return {
    setIfAbsent: (key, ttlMs) => inEither((store) => store.setIfAbsent(key, ttlMs)),
    delete: (key) => inEither((store) => store.delete(key)),
  };
}
