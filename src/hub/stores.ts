import type { SecureContext } from 'node:tls';
import type { Clock } from '../clock.ts';
import { memoryStore, type ReplayStore } from '../webhook/replay.ts';
import {
  type BudgetLimits,
  type BudgetStore,
  dividedLimits,
  type MemoryBudget,
  memoryBudget,
  windowMs,
} from './budget.ts';
import { connectRedis } from './redis.ts';
import { redisBudget, type SharedBudget } from './redis-budget.ts';
import { type MemoryWakes, memoryWakes, redisWakes, type WakeStore } from './wakes.ts';

/** Whether Redis works, as far as this hub knows. */
export interface Health {
  /** Called with each error of Redis, and with null when a call of the budget succeeds: each of them writes. */
  report(error: unknown): void;
}

/** Returns a function that calls Redis, and this hub's own store if Redis fails. */
const withFallback =
  <Store>(shared: Store, local: Store, health: Health) =>
  async <Value>(call: (store: Store) => Promise<Value>): Promise<Value> => {
    try {
      return await call(shared);
    } catch (error) {
      health.report(error);
      return call(local);
    }
  };

/**
 * Returns a budget that is shared while Redis works. Without Redis each hub goes on with its share: the limits divided by
 * the number of hubs that were last seen, counting what all of them were granted until then. Redis may come back without
 * the budget, so for a minute both Redis and the share must have room.
 */
export function failoverBudget(
  shared: SharedBudget,
  limits: BudgetLimits,
  monotonic: () => number,
  health: Health,
): BudgetStore {
  /** The hubs that shared the budget before Redis failed: after it, they come back one by one. */
  let hubsBefore = 1;
  const ownLimits = () => dividedLimits(limits, Math.max(1, hubsBefore, shared.seen().hubs));
  const local: MemoryBudget = memoryBudget(ownLimits, monotonic);
  let sharedFrom = Number.NEGATIVE_INFINITY;
  const isShared = () => monotonic() >= sharedFrom;
  /** Returns what the call returns, or null if Redis fails. */
  const inRedis = async <Value>(call: () => Promise<Value>): Promise<Value | null> => {
    try {
      const value = await call();
      health.report(null);
      return value;
    } catch (error) {
      health.report(error);
      if (isShared()) {
        const { hubs, granted } = shared.seen();
        hubsBefore = hubs;
        local.replace(granted);
      }
      sharedFrom = monotonic() + windowMs;
      return null;
    }
  };

  return {
    async reserve(line, deadline) {
      if (isShared()) {
        const reservation = await inRedis(() => shared.reserve(line, deadline));
        if (reservation === null) return local.reserve(line, deadline);
        // Another call may have failed in the meantime, and this grant came too late to be copied.
        if (reservation.granted && !isShared()) local.count(line);
        return reservation;
      }
      const reservation = await local.reserve(line, deadline);
      if (!reservation.granted) return reservation;
      const other = (await inRedis(() => shared.reserve(line, deadline))) ?? reservation;
      if (!other.granted) local.undo(line);
      return other;
    },
    async withdraw(line) {
      await local.withdraw(line);
      await inRedis(() => shared.withdraw(line));
    },
    async reduce(forMs) {
      await local.reduce(forMs);
      await inRedis(() => shared.reduce(forMs));
    },
    async present() {
      await inRedis(() => shared.present());
    },
  };
}

/**
 * Returns wake-ups that all hubs share while Redis works. Without Redis a hub wakes the gates that are connected to it, and
 * remembers the ids it has heard of.
 */
export function failoverWakes(shared: WakeStore, local: MemoryWakes, health: Health): WakeStore {
  const inEither = withFallback<Pick<WakeStore, 'announce' | 'namedSince'>>(shared, local, health);
  return {
    announce: (ids) => inEither((store) => store.announce(ids)),
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

/** The memory of a hub: its own, or one that it shares. */
export interface HubStores {
  budget: BudgetStore;
  wakes: WakeStore;
  replays: ReplayStore;
  /** Resolves when Redis is connected; at once without Redis. */
  ready(): Promise<void>;
  close(): void;
}

export function memoryStores(limits: BudgetLimits, clock: Clock): HubStores {
  return {
    budget: memoryBudget(() => limits, clock.monotonic),
    wakes: memoryWakes(clock.now),
    replays: memoryStore(),
    ready: async () => {},
    close() {},
  };
}

/** Shares everything with the other hubs on one Redis, and goes on with a share of it while Redis is away. */
export async function redisStores(
  url: string,
  limits: BudgetLimits,
  clock: Clock,
  health: Health,
  secureContext?: SecureContext,
): Promise<HubStores> {
  const connection = await connectRedis(url, (error) => health.report(error), secureContext);
  const { monotonic } = clock;
  const shared = redisBudget(connection.budget, limits, crypto.randomUUID(), monotonic);
  const local = memoryWakes(clock.now);
  return {
    budget: failoverBudget(shared, limits, monotonic, health),
    wakes: failoverWakes(redisWakes(connection.wakes, clock), local, health),
    replays: failoverReplays(connection.replays, memoryStore(), health),
    ready: connection.ready,
    close: connection.close,
  };
}
