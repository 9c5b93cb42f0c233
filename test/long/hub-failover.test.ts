import { createClient } from '@redis/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { BudgetLimits, BudgetStore } from '../../src/hub/budget.ts';
import { failoverBudget } from '../../src/hub/failover-budget.ts';
import { failoverReplays, failoverWakes } from '../../src/hub/failover-wakes.ts';
import { createHub, type Hub } from '../../src/hub/hub.ts';
import { connectRedis, type HubRedis } from '../../src/hub/redis.ts';
import { redisBudget } from '../../src/hub/redis-budget.ts';
import { memoryWakes, redisWakes } from '../../src/hub/wakes.ts';
import { memoryStore, type ReplayStore } from '../../src/webhook/replay.ts';
import { isRedisMissing, startRedis, type TestRedis } from '../hub/redis.ts';
import { until } from '../until.ts';

const limits: BudgetLimits = { reads: 8, creates: 8, requests: 100 };

let redis: TestRedis;
const cleanups: (() => void)[] = [];

beforeAll(async () => {
  if (isRedisMissing) return;
  redis = await startRedis();
});

afterAll(async () => {
  for (const cleanup of cleanups) cleanup();
  await redis?.stop();
});

/** Sends one command over a separate connection. */
async function command(...args: string[]) {
  const client = createClient({ url: redis.url });
  await client.connect();
  await client.sendCommand(args);
  client.destroy();
}

beforeEach(() => (isRedisMissing ? undefined : command('FLUSHALL')));

/** The time of the budgets: the script in Redis follows the clocks of the hubs. */
let elapsed = 0;

interface TestHub {
  hub: Hub;
  budget: BudgetStore;
  replays: ReplayStore;
  connection: HubRedis;
  /** Whether Redis works, by the last report. */
  works(): boolean;
  /** Ids that woke a gate of the runs `run_1`, `run_2` and `run_3`. */
  woken: string[];
}

let count = 0;
async function startHub(redisWorks = true): Promise<TestHub> {
  const connection = await connectRedis(redis.url);
  let works = true;
  const health = {
    report(error: unknown) {
      works = error === null;
    },
  };
  count += 1;
  const shared = redisBudget(connection.budget, limits, `hub-${count}`, () => elapsed);
  const budget = failoverBudget(shared, () => elapsed, health);
  const own = memoryWakes(systemClock.now);
  const wakes = failoverWakes(redisWakes(connection.wakes, systemClock), own, health, systemClock);
  const hub = createHub(budget, wakes, systemClock);
  if (redisWorks) await connection.ready();
  const woken: string[] = [];
  await hub.subscribe(['run_1', 'run_2', 'run_3'], 0, ({ id }) => woken.push(id));
  cleanups.push(() => {
    hub.close();
    connection.close();
  });
  const replays = failoverReplays(connection.replays, memoryStore(), health);
  return { hub, budget, replays, connection, works: () => works, woken };
}

/** Two hubs whose start is over: Redis has had their budget for more than a minute. */
async function twoHubs(): Promise<[TestHub, TestHub]> {
  const hubs: [TestHub, TestHub] = [await startHub(), await startHub()];
  const present = async () => {
    for (const { budget } of hubs) await budget.present();
  };
  await present();
  elapsed += 63_000;
  await present();
  await present();
  return hubs;
}

/** Delivers at one hub until the other one hears of it, since its first request for wake-ups may still be under way. */
async function connected(one: TestHub, other: TestHub) {
  await until(async () => {
    await one.hub.deliver('["run_1"]');
    return other.woken.includes('run_1');
  });
  other.woken.length = 0;
}

/** The times of all grants. */
const times: number[] = [];
async function take({ budget }: TestHub): Promise<number> {
  let taken = 0;
  while ((await budget.reserve('create', elapsed)).granted) {
    taken += 1;
    times.push(elapsed);
  }
  await budget.withdraw('create');
  return taken;
}

function mostInAMinute(): number {
  return Math.max(...times.map((at) => times.filter((other) => other >= at && other < at + 60_000).length));
}

interface Outage {
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

const outages: Record<string, Outage> = {
  'killed, and restarted without its data': { begin: () => redis.kill(), end: () => redis.restart() },
  'read-only': {
    begin: () => command('CONFIG', 'SET', 'min-replicas-to-write', '1'),
    end: () => command('CONFIG', 'SET', 'min-replicas-to-write', '0'),
  },
  'a replica without its primary': {
    begin: () => command('REPLICAOF', '127.0.0.1', '1'),
    end: () => command('REPLICAOF', 'NO', 'ONE'),
  },
  frozen: { begin: () => redis.freeze(), end: () => redis.thaw() },
};

describe.skipIf(isRedisMissing)('two hubs on one Redis', () => {
  it('share the budget', async () => {
    const [one, other] = await twoHubs();
    elapsed += 1000;
    expect((await take(one)) + (await take(other))).toBe(8);
    elapsed += 63_000;
    expect(await take(other)).toBe(8);
    expect(await take(one)).toBe(0);
  });

  it('wake each other’s gates, also those that subscribe later', async () => {
    const [one, other] = await twoHubs();
    await connected(one, other);
    await other.hub.deliver('{"data":{"id":"run_2"}}');
    await until(() => one.woken.includes('run_2') && other.woken.includes('run_2'));
    const late: string[] = [];
    await one.hub.subscribe(['run_2'], 0, ({ id }) => late.push(id));
    expect(late).toEqual(['run_2']);
  });

  it('accept a delivery once', async () => {
    const [one, other] = await twoHubs();
    expect(await one.replays.setIfAbsent('delivery', 60_000)).toBe(true);
    expect(await other.replays.setIfAbsent('delivery', 60_000)).toBe(false);
  });

  it('know that a Redis has lost the budget, even if no request failed', async () => {
    const [one, other] = await twoHubs();
    elapsed += 100_000;
    await other.budget.present();
    expect(await take(one)).toBe(8);
    await other.budget.present();
    await redis.kill();
    await redis.restart();
    await Promise.all([one.connection.ready(), other.connection.ready()]);
    expect(await take(one)).toBe(0);
    expect(await take(other)).toBe(0);
    elapsed += 63_000;
    expect(await take(one)).toBe(8);
  });
});

describe.skipIf(isRedisMissing)('two hubs that start without Redis', () => {
  it('use half of a quarter of the budget each, then half of it, and share all of it once Redis works', async () => {
    elapsed += 1_000_000;
    await redis.kill();
    const [one, other] = [await startHub(false), await startHub(false)];
    expect([await take(one), await take(other)]).toEqual([1, 1]);
    elapsed += 63_000;
    expect([await take(one), await take(other)]).toEqual([4, 4]);

    await redis.restart();
    await Promise.all([one.connection.ready(), other.connection.ready()]);
    expect([await take(one), await take(other)]).toEqual([0, 0]);
    elapsed += 63_000;
    expect(await take(one)).toBe(8);
    expect(await take(other)).toBe(0);
  });
});

describe.skipIf(isRedisMissing).each(Object.entries(outages))(
  'while Redis is %s',
  (_name, { begin, end }) => {
    it('each hub goes on with its share and wakes its gates, and all is shared again afterwards', async () => {
      elapsed += 1_000_000;
      times.length = 0;
      const [one, other] = await twoHubs();
      await connected(one, other);
      await one.budget.present();
      await other.budget.present();
      expect((await one.budget.reserve('create', elapsed)).granted).toBe(true);
      times.push(elapsed);
      await other.budget.present();

      await begin();
      // Of each share of 4, one is used: the hubs cannot know by whom.
      expect(await take(one)).toBe(3);
      expect(one.works()).toBe(false);
      expect(await take(other)).toBe(3);
      elapsed += 63_000;
      expect(await take(one)).toBe(4);
      one.woken.length = 0;
      expect(await one.hub.deliver('["run_2"]')).toBe(1);
      expect(one.woken).toEqual(['run_2']);
      expect(other.woken).not.toContain('run_2');
      expect(await one.replays.setIfAbsent('during', 60_000)).toBe(true);
      expect(await one.replays.setIfAbsent('during', 60_000)).toBe(false);
      expect(await take(other)).toBe(4);

      await end();
      await Promise.all([one.connection.ready(), other.connection.ready()]);
      await until(async () => {
        await one.budget.present();
        await other.budget.present();
        return one.works() && other.works();
      });
      expect(await take(one)).toBe(0);
      elapsed += 50_000;
      expect(await take(one)).toBe(0);
      elapsed += 13_000;
      expect((await take(one)) + (await take(other))).toBe(8);
      elapsed += 63_000;
      expect(await take(other)).toBe(8);
      expect(mostInAMinute()).toBe(8);

      // The other hub hears of the ids from the meantime, and deliveries reach both hubs again.
      await until(() => other.woken.includes('run_2'));
      const late: string[] = [];
      await one.hub.subscribe(['run_2'], 0, ({ id }) => late.push(id));
      expect(late).toEqual(['run_2']);
      await until(async () => {
        await other.hub.deliver(JSON.stringify(['run_3']));
        return one.woken.includes('run_3');
      });
    });
  },
);
