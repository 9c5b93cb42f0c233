import type { Clock } from '../clock.ts';
import { Budget } from './budget.ts';
import { type GateStore, memoryGates, redisGates } from './gate-store.ts';
import type { BudgetLimits } from './ledger.ts';
import { connectRedis, type RedisOptions } from './redis.ts';
import { Scheduler } from './scheduler.ts';
import { SharedWakes, Wakes } from './wakes.ts';

/** The parts of a hub, without its server. It holds no API key and decides no verdict. */
export interface Hub {
  budget: Budget;
  scheduler: Scheduler;
  wakes: Wakes;
  gates: GateStore;
  /** Resolves when Redis is connected; at once without Redis. @throws ConfigError if this Redis can never be used */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Returns a hub that shares nothing. @param knowsLastMinute see `Budget` */
export function memoryHub(limits: BudgetLimits, clock: Clock, knowsLastMinute = false): Hub {
  const budget = new Budget(null, { limits, hubs: 1, now: clock.monotonic, knowsLastMinute });
  return {
    budget,
    scheduler: new Scheduler(budget, clock),
    wakes: new Wakes(clock.now),
    gates: memoryGates(clock.now),
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

/** Returns a hub that shares everything with others on one Redis, and goes on with a share of the budget while that is away. */
export async function redisHub(url: string, clock: Clock, options: SharedOptions): Promise<Hub> {
  const { limits, hubs, onCall } = options;
  const redis = await connectRedis(url, { ...options, onError: onCall, clock });
  const budget = new Budget(redis.runLog, { limits, hubs, now: clock.monotonic, onCall });
  const wakes = new SharedWakes(redis, clock);
  return {
    budget,
    scheduler: new Scheduler(budget, clock),
    wakes,
    gates: redisGates(redis),
    ready: redis.ready,
    async close() {
      await wakes.close();
      redis.close();
    },
  };
}
