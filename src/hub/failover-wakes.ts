import type { Clock } from '../clock.ts';
import type { ReplayStore } from '../webhook/replay.ts';
import { type Health, withFallback } from './health.ts';
import type { MemoryWakes, WakeStore } from './wakes.ts';

/** Ids that are kept for Redis at most: the oldest are left out. */
export const mostMissed = 10_000;
/** Ids in one call of Redis, as many as a delivery may have. */
const mostAtOnce = 200;
/** After a failed call, the next one waits this long. */
const retryMs = 500;

/**
 * Returns wake-ups that all hubs share while Redis works. Without Redis a hub wakes the gates that are connected to it, and
 * remembers the ids it has heard of. When Redis is back, the hub announces these ids to the other hubs.
 */
export function failoverWakes(
  shared: WakeStore,
  local: MemoryWakes,
  health: Health,
  clock: Clock,
): WakeStore {
  const inEither = withFallback<Pick<WakeStore, 'namedSince'>>(shared, local, health);
  /** The ids that Redis has not heard of, each with a mark of its last naming. */
  const missed = new Map<string, symbol>();
  const closing = new AbortController();
  let isCatchingUp = false;
  const keepForRedis = (ids: readonly string[]) => {
    for (const id of ids) {
      missed.delete(id);
      missed.set(id, Symbol(id));
    }
    for (const oldest of missed.keys()) {
      if (missed.size <= mostMissed) break;
      missed.delete(oldest);
    }
  };
  const catchUp = async () => {
    while (missed.size > 0 && !closing.signal.aborted) {
      const batch = [...missed].slice(0, mostAtOnce);
      try {
        await shared.announce(batch.map(([id]) => id));
        // An id that a delivery named again in the meantime stays.
        for (const [id, mark] of batch) if (missed.get(id) === mark) missed.delete(id);
      } catch {
        await clock.sleep(retryMs, closing.signal).catch(() => {});
      }
    }
  };
  return {
    async announce(ids) {
      try {
        await shared.announce(ids);
      } catch (error) {
        health.report(error);
        await local.announce(ids);
        keepForRedis(ids);
        if (isCatchingUp) return;
        isCatchingUp = true;
        void catchUp().finally(() => {
          isCatchingUp = false;
        });
      }
    },
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
        () => closing.abort(),
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
