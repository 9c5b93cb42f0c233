import type { Clock } from '../clock.ts';
import { windowMs } from '../gate/fleet/protocol.ts';
import { memoryStore, type ReplayStore } from '../webhook/replay.ts';
import { type BudgetLimits, type BudgetStore, memoryBudget } from './budget.ts';
import { failoverBudget } from './failover-budget.ts';
import { failoverReplays, failoverWakes } from './failover-wakes.ts';
import type { Health } from './health.ts';
import { connectRedis, type RedisOptions } from './redis.ts';
import { redisBudget } from './redis-budget.ts';
import { memoryWakes, redisWakes, type WakeStore } from './wakes.ts';

/** The memory of a hub: its own, or one that it shares. */
export interface HubStores {
  budget: BudgetStore;
  wakes: WakeStore;
  replays: ReplayStore;
  /** Resolves when Redis is connected; at once without Redis. @throws ConfigError if this Redis can never be used */
  ready(): Promise<void>;
  close(): void;
}

export function memoryStores(limits: BudgetLimits, clock: Clock): HubStores {
  const startEndsAt = clock.monotonic() + windowMs;
  const isStarting = () => clock.monotonic() < startEndsAt;
  return {
    budget: memoryBudget(() => limits, clock.monotonic, { isStarting }),
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
  options: Pick<RedisOptions, 'prefix' | 'secureContext'>,
): Promise<HubStores> {
  const onError = (error: unknown) => health.report(error);
  const connection = await connectRedis(url, { ...options, onError, clock });
  const { monotonic } = clock;
  const shared = redisBudget(connection.budget, limits, crypto.randomUUID(), monotonic);
  const local = memoryWakes(clock.now);
  return {
    budget: failoverBudget(shared, monotonic, health),
    wakes: failoverWakes(redisWakes(connection.wakes, clock), local, health, clock),
    replays: failoverReplays(connection.replays, memoryStore(), health),
    ready: connection.ready,
    close: connection.close,
  };
}
