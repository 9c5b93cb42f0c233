import type { Clock } from '../clock.ts';
import { memoryStore, type ReplayStore } from '../webhook/replay.ts';
import { type BudgetLimits, type BudgetStore, memoryBudget } from './budget.ts';
import { connectRedis, type RedisOptions } from './redis.ts';
import { SharedBudget } from './shared-budget.ts';
import { MemoryWakes, SharedWakes, type WakeStore } from './wakes.ts';

/** The memory of a hub: its own, or one that it shares. */
export interface HubStores {
  budget: BudgetStore;
  wakes: WakeStore;
  replays: ReplayStore;
  /** Resolves when Redis is connected; at once without Redis. @throws ConfigError if this Redis can never be used */
  ready(): Promise<void>;
  close(): Promise<void>;
}

export function memoryStores(limits: BudgetLimits, clock: Clock): HubStores {
  return {
    budget: memoryBudget(limits, clock.monotonic),
    wakes: new MemoryWakes(clock.now),
    replays: memoryStore(),
    ready: async () => {},
    close: async () => {},
  };
}

interface SharedOptions extends Pick<RedisOptions, 'prefix' | 'secureContext'> {
  limits: BudgetLimits;
  /** How many hubs share the budget. */
  hubs: number;
  /** Receives null when Redis has worked, and the error when it has failed. */
  onCall(error: unknown): void;
}

/** Shares everything with the other hubs on one Redis, and goes on with a share of the budget while Redis is away. */
export async function redisStores(url: string, clock: Clock, options: SharedOptions): Promise<HubStores> {
  const { limits, hubs, onCall } = options;
  const redis = await connectRedis(url, { ...options, onError: onCall, clock });
  const wakes = new SharedWakes(redis, clock);
  const own = memoryStore();
  return {
    budget: new SharedBudget(redis.runLog, { limits, hubs, now: clock.monotonic, onCall }),
    wakes,
    replays: {
      setIfAbsent: (key, ttlMs) =>
        redis.replays.setIfAbsent(key, ttlMs).catch(() => own.setIfAbsent(key, ttlMs)),
      delete: (key) => redis.replays.delete(key).catch(() => own.delete(key)),
    },
    ready: redis.ready,
    async close() {
      await wakes.close();
      redis.close();
    },
  };
}
