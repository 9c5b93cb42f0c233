import { createClient } from '@redis/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ceilings } from '../../src/client/rate-limit.ts';
import { systemClock } from '../../src/clock.ts';
import {
  type BudgetLimits,
  type BudgetStore,
  memoryBudget,
  type RequestLine,
  usualBudget,
} from '../../src/hub/budget.ts';
import { budgetScript, type RunScript, redisBudget } from '../../src/hub/redis-budget.ts';
import { memoryStores } from '../../src/hub/stores.ts';
import { isRedisMissing, startRedis, type TestRedis } from './redis.ts';

let redis: TestRedis;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  if (isRedisMissing) return;
  redis = await startRedis();
  client = createClient({ url: redis.url });
  await client.connect();
});

afterAll(async () => {
  client?.destroy();
  await redis?.stop();
});

/** A world with one true time. The clock of Redis may be set to another one, and that of a hub may stop for a while. */
interface World {
  time: number;
  /** The difference between the clock of Redis and the true time. */
  ahead: number;
  /** How long the clocks of the hubs stopped, for example because their machines were suspended. */
  stoppedMs?: number[];
}

/** The script as it is, with a clock that the test sets. */
const script = budgetScript('local raw = tonumber(ARGV[#ARGV])');

/** Each budget has its own keys, so that no test meets those that another one left or still writes. */
let budgets = 0;
const keyOf = (name: string) => `${name}:${budgets}`;

/** @param limits those of all hubs, or those of each */
type Engine = (
  world: World,
  limits: BudgetLimits | readonly BudgetLimits[],
  hubs: number,
) => Promise<BudgetStore[]>;

/** The time on the clock of a hub: each began at another moment. */
const hubTime = ({ time, stoppedMs = [] }: World, hub: number) => time + hub * 12_345 - (stoppedMs[hub] ?? 0);

const engines: Record<string, Engine> = {
  async memory(world, limits) {
    return [
      memoryBudget(
        () => [limits].flat()[0] as BudgetLimits,
        () => world.time,
      ),
    ];
  },
  async Redis(world, limits, hubs) {
    budgets += 1;
    const suffix = `:${budgets}`;
    const sha = await client.scriptLoad(script);
    const run = async (names: string[], args: string[]) => {
      const keys = names.map((name) => name + suffix);
      const now = String(1_700_000_000_000 + world.time + world.ahead);
      return (await client.evalSha(sha, { keys, arguments: [...args, now] })) as unknown as Awaited<
        ReturnType<RunScript>
      >;
    };
    const each = [limits].flat() as BudgetLimits[];
    const stores = Array.from({ length: hubs }, (_, at) =>
      redisBudget(run, each[at % each.length] as BudgetLimits, `hub-${at}`, () => hubTime(world, at)),
    );
    for (const store of stores) await store.withdraw('read');
    return stores;
  },
};

const testedEngines = Object.entries(engines).filter(([name]) => name === 'memory' || !isRedisMissing);

/** The most requests in any minute, from the times at which they were granted, in order. */
function mostInAMinute(times: readonly number[]): number {
  let most = 0;
  for (const [at, time] of times.entries()) {
    const within = times.slice(at).filter((other) => other < time + 60_000).length;
    most = Math.max(most, within);
  }
  return most;
}

interface Step {
  afterMs: number;
  hub: number;
  line: RequestLine;
  patienceMs: number;
  /** How far the clock of Redis is set at this step, in milliseconds. */
  clockStep: number;
  /** Whether the clock of the hub stops meanwhile. */
  stops: boolean;
}

const steps = fc.array(
  fc.record<Step>({
    afterMs: fc.oneof(
      { weight: 6, arbitrary: fc.nat(500) },
      { weight: 2, arbitrary: fc.nat(20_000) },
      fc.constant(70_000),
    ),
    hub: fc.nat(1),
    line: fc.constantFrom<RequestLine>('read', 'read', 'safety', 'create'),
    patienceMs: fc.nat(60_000),
    clockStep: fc.oneof(
      { weight: 12, arbitrary: fc.constant(0) },
      fc.integer({ min: -100_000, max: 100_000 }),
    ),
    stops: fc.boolean(),
  }),
  { maxLength: 120 },
);

const limits = fc.record<BudgetLimits>({
  reads: fc.integer({ min: 1, max: 12 }),
  creates: fc.integer({ min: 1, max: 6 }),
  requests: fc.integer({ min: 1, max: 15 }),
});

describe.each(testedEngines)('a budget in %s', (name, engine) => {
  const numRuns = name === 'memory' ? 400 : 60;

  it('never grants more than its limits in any minute, whatever the clock of Redis does', async () => {
    await fc.assert(
      fc.asyncProperty(limits, steps, async (given, schedule) => {
        const stoppedMs = [0, 0];
        const world: World = { time: 0, ahead: 0, stoppedMs };
        const stores = await engine(world, given, 2);
        const granted = { read: [] as number[], create: [] as number[], any: [] as number[] };
        for (const { afterMs, hub, line, patienceMs, clockStep, stops } of schedule) {
          world.time += afterMs;
          world.ahead += clockStep;
          if (stops) stoppedMs[hub] = (stoppedMs[hub] as number) + afterMs;
          const store = stores[hub % stores.length] as BudgetStore;
          // The other hub is alive.
          const [, { granted: yes }] = await Promise.all([
            stores[1 - hub]?.present(),
            store.reserve(line, world.time + patienceMs),
          ]);
          if (!yes) continue;
          granted[line === 'create' ? 'create' : 'read'].push(world.time);
          granted.any.push(world.time);
        }
        expect(mostInAMinute(granted.read)).toBeLessThanOrEqual(given.reads);
        expect(mostInAMinute(granted.create)).toBeLessThanOrEqual(given.creates);
        expect(mostInAMinute(granted.any)).toBeLessThanOrEqual(given.requests);
      }),
      { numRuns },
    );
  });

  it('is not reduced by refused claims: a claim that waits for the stated time gets its grant', async () => {
    await fc.assert(
      fc.asyncProperty(limits, steps, async (given, schedule) => {
        const world: World = { time: 0, ahead: 0 };
        const [store] = (await engine(world, given, 1)) as [BudgetStore];
        for (const { afterMs, line: any, patienceMs } of schedule) {
          world.time += afterMs;
          // A safety read may find that other reads have come meanwhile.
          const line = any === 'safety' ? 'read' : any;
          const deadline = world.time + patienceMs;
          const first = await store.reserve(line, deadline);
          if (first.granted) continue;
          expect(first.retryMs).toBeGreaterThan(0);
          expect(first.retryMs).toBeLessThanOrEqual(62_200);
          world.time += first.retryMs;
          expect(await store.reserve(line, deadline)).toEqual({ granted: true });
        }
      }),
      { numRuns },
    );
  });

  it('is halved by a 429, and recovers in steps of 20 s', async () => {
    const world: World = { time: 0, ahead: 0 };
    const [store] = (await engine(world, { reads: 48, creates: 16, requests: 80 }, 1)) as [BudgetStore];
    const creates = async (afterMs: number) => {
      world.time += afterMs;
      await store.present();
      return store.view().present.creates;
    };
    for (const left of [8, 4, 2, 2]) {
      await store.reduce(0);
      expect(await creates(10_000)).toBe(left);
    }
    expect(await creates(9_999)).toBe(2);
    expect(await creates(1)).toBe(4);
    expect(await creates(20_000)).toBe(8);
    // Another one on the way halves the present budget.
    await store.reduce(0);
    expect(await creates(19_999)).toBe(4);
    expect(await creates(1)).toBe(8);
    expect(await creates(19_999)).toBe(8);
    expect(await creates(1)).toBe(16);
  });

  it('recovers only after the time that the service requested', async () => {
    const world: World = { time: 0, ahead: 0 };
    const [store] = (await engine(world, { reads: 8, creates: 8, requests: 100 }, 1)) as [BudgetStore];
    const take = async () => {
      let taken = 0;
      while ((await store.reserve('read', world.time)).granted) taken += 1;
      await store.withdraw('read');
      return taken;
    };
    await store.reduce(120_000);
    expect(await take()).toBe(3);
    world.time += 119_999;
    expect(await take()).toBe(3);
    world.time += 20_001;
    expect(await take()).toBe(4);
  });

  it('is halved once by the refusals of one burst, which several gates report', async () => {
    const world: World = { time: 0, ahead: 0 };
    const [store] = (await engine(world, { reads: 16, creates: 8, requests: 100 }, 1)) as [BudgetStore];
    const take = async () => {
      let taken = 0;
      while ((await store.reserve('create', world.time)).granted) taken += 1;
      await store.withdraw('create');
      return taken;
    };
    for (let report = 0; report < 10; report += 1) {
      await store.reduce(120_000);
      world.time += 500;
    }
    expect(await take()).toBe(4);
    world.time += 63_000;
    await store.reduce(120_000);
    expect(await take()).toBe(2);
  });

  it('counts reported requests by their age, and never more than the limit', async () => {
    const world: World = { time: 100_000, ahead: 0 };
    const given = { reads: 4, creates: 3, requests: 9 };
    const [store] = (await engine(world, given, 1)) as [BudgetStore];
    await store.reserve('create', world.time);
    await store.report('create', [70_000, 50_000, 1_000.5]);
    expect((await store.reserve('create', world.time)).granted).toBe(false);
    world.time += 12_500;
    expect(await store.reserve('create', world.time)).toEqual({ granted: true });
    await store.report('safety', Array(1_000).fill(0));
    expect(store.view().granted.safety).toHaveLength(9);
  });

  it('shows the limits, the hubs and the grants of the last minute', async () => {
    const world: World = { time: 100_000, ahead: 0 };
    const given = { reads: 8, creates: 4, requests: 9 };
    const [store] = (await engine(world, given, 1)) as [BudgetStore];
    await store.reserve('read', world.time);
    await store.reserve('create', world.time);
    world.time += 30_000;
    await store.report('read', [10_000, 40_000]);
    await store.reduce(120_000);
    expect(store.view()).toEqual({
      configured: given,
      present: { reads: 4, creates: 2, requests: 4 },
      hubs: 1,
      place: 0,
      granted: { create: [100_000], read: [90_000, 100_000, 120_000], safety: [] },
    });
  });

  it('keeps room for the more urgent kind if requests as a whole are short', async () => {
    const world: World = { time: 0, ahead: 0 };
    const [store] = (await engine(world, { reads: 9, creates: 9, requests: 1 }, 1)) as [BudgetStore];
    expect(await store.reserve('read', 0)).toEqual({ granted: true });
    expect((await store.reserve('create', 10)).granted).toBe(false);
    world.time += 60_500;
    expect((await store.reserve('create', 10)).granted).toBe(false);
    world.time += 1_800;
    expect((await store.reserve('read', 20)).granted).toBe(false);
    expect(await store.reserve('create', 10)).toEqual({ granted: true });
  });
});

describe('a budget in memory', () => {
  const limits = { reads: 48, creates: 16, requests: 80 };
  const take = async (store: BudgetStore, line: RequestLine) => {
    let taken = 0;
    while ((await store.reserve(line, 0)).granted) taken += 1;
    await store.withdraw(line);
    return taken;
  };

  it('is a quarter of the limits while the hub starts', async () => {
    let isStarting = true;
    const store = memoryBudget(
      () => limits,
      () => 0,
      { isStarting: () => isStarting },
    );
    await store.report('create', [1_000]);
    expect(await take(store, 'create')).toBe(3);
    expect(store.view().present).toEqual({ reads: 12, creates: 4, requests: 20 });
    isStarting = false;
    expect(await take(store, 'create')).toBe(12);
  });

  it('allows no more than the documented limits over a restart of the only hub', async () => {
    let time = 0;
    const clock = { ...systemClock, monotonic: () => time };
    const before = memoryStores(usualBudget, clock).budget;
    time += 62_000;
    const granted = await take(before, 'create');
    const after = memoryStores(usualBudget, clock).budget;
    expect(granted + (await take(after, 'create'))).toBe(ceilings.creates);
    const { reads, requests } = after.view().present;
    expect(usualBudget.reads + reads).toBe(ceilings.reads);
    expect(usualBudget.requests + requests).toBe(ceilings.all);
    time += 62_000;
    expect(after.view().present).toEqual(usualBudget);
  });

  it.each([1, 2, 3, 4, 5, 8, 16, 17])('leaves a part for each of %d hubs', async (hubs) => {
    const store = memoryBudget(
      () => limits,
      () => 0,
      { hubs: () => hubs },
    );
    expect(await take(store, 'create')).toBe(Math.max(1, Math.floor(16 / hubs)));
    expect(await take(store, 'safety')).toBe(1);
    expect(await take(store, 'read')).toBeGreaterThanOrEqual(Math.floor(48 / hubs) - 3);
    expect(store.view()).toMatchObject({ configured: limits, hubs });
  });
});

describe.each(testedEngines)('a full budget in %s', (_name, engine) => {
  it('has two safety reads a minute while creates and other reads use everything else', async () => {
    const world: World = { time: 0, ahead: 0 };
    const stores = await engine(world, { reads: 48, creates: 16, requests: 80 }, 2);
    const safety: number[] = [];
    for (; world.time < 6 * 60_000; world.time += 500) {
      for (const [hub, store] of stores.entries()) {
        // The others have always waited longer.
        await store.reserve('create', 0);
        await store.reserve('read', 0);
        if ((await store.reserve('safety', hubTime(world, hub))).granted) safety.push(world.time);
      }
    }
    for (let minute = 1; minute < 6; minute += 1) {
      const within = safety.filter((at) => at >= minute * 60_000 && at < (minute + 1) * 60_000);
      expect(within.length).toBeGreaterThanOrEqual(2);
    }
  });
});

describe.skipIf(isRedisMissing)('a budget that two hubs share', () => {
  it('goes to the most urgent claim of both', async () => {
    const world: World = { time: 0, ahead: 0 };
    const engine = engines.Redis as Engine;
    const [one, other] = (await engine(world, { reads: 1, creates: 9, requests: 9 }, 2)) as [
      BudgetStore,
      BudgetStore,
    ];
    expect(await one.reserve('read', 0)).toEqual({ granted: true });
    world.time = 61_000;
    expect((await one.reserve('read', 500_000)).granted).toBe(false);
    expect((await other.reserve('read', 70_000)).granted).toBe(false);
    world.time = 62_300;
    expect((await one.reserve('read', 500_000)).granted).toBe(false);
    expect(await other.reserve('read', 70_000)).toEqual({ granted: true });
  });

  it('goes to the most urgent claim by the time since it was made, since each hub has another clock', async () => {
    const world: World = { time: 0, ahead: 0 };
    const engine = engines.Redis as Engine;
    const limit = { reads: 1, creates: 9, requests: 9 };
    const [one, other] = (await engine(world, limit, 2)) as [BudgetStore, BudgetStore];
    expect(await one.reserve('read', 0)).toEqual({ granted: true });
    world.time = 61_000;
    // The clock of the other hub is 12 s ahead, so its claim is the older one.
    expect((await one.reserve('read', 61_000)).granted).toBe(false);
    expect((await other.reserve('read', 61_000 + 12_345 - 5000)).granted).toBe(false);
    world.time = 62_300;
    expect((await one.reserve('read', 61_000)).granted).toBe(false);
    expect(await other.reserve('read', 61_000 + 12_345 - 5000)).toEqual({ granted: true });
  });

  it('is the smaller one if the hubs have different ones, and is shared fairly', async () => {
    const world: World = { time: 0, ahead: 0 };
    const engine = engines.Redis as Engine;
    const large = { reads: 48, creates: 16, requests: 80 };
    const small = { reads: 9, creates: 3, requests: 80 };
    const stores = await engine(world, [large, small], 2);
    const granted = [0, 0];
    const times: number[] = [];
    const since = [0, 0];
    for (; world.time < 10 * 60_000; world.time += 250) {
      for (const [hub, store] of stores.entries()) {
        const { granted: yes } = await store.reserve('read', (since[hub] as number) + hub * 12_345);
        if (!yes) continue;
        since[hub] = world.time;
        granted[hub] = (granted[hub] as number) + 1;
        times.push(world.time);
      }
    }
    expect(mostInAMinute(times)).toBeLessThanOrEqual(9);
    expect(times.length).toBeGreaterThan(70);
    expect(Math.min(...granted)).toBeGreaterThan(times.length / 3);
  });

  it('shows each hub its place among those alive, and the smallest limits', async () => {
    const world: World = { time: 0, ahead: 0 };
    const engine = engines.Redis as Engine;
    const small = { reads: 9, creates: 3, requests: 80 };
    const stores = await engine(world, [{ reads: 48, creates: 16, requests: 80 }, small, small], 3);
    for (const store of stores) await store.present();
    expect(stores.map((store) => store.view())).toMatchObject(
      [0, 1, 2].map((place) => ({ configured: small, hubs: 3, place })),
    );
    world.time += 70_000;
    await stores[1]?.present();
    await stores[2]?.present();
    expect(stores[2]?.view()).toMatchObject({ hubs: 2, place: 1 });
  });

  it('is whole again for a hub whose clock stopped for minutes, also if it is then the only one', async () => {
    const world: World = { time: 0, ahead: 0, stoppedMs: [0, 0] };
    const engine = engines.Redis as Engine;
    const [one, other] = (await engine(world, { reads: 1, creates: 9, requests: 9 }, 2)) as [
      BudgetStore,
      BudgetStore,
    ];
    expect(await one.reserve('read', 0)).toEqual({ granted: true });
    world.time = 5 * 60_000;
    world.stoppedMs = [world.time, 0];
    expect(await other.reserve('read', world.time)).toEqual({ granted: true });
    expect((await one.reserve('read', 0)).granted).toBe(false);
    world.time += 62_400;
    expect(await one.reserve('read', 0)).toEqual({ granted: true });
  });

  it('forgets hubs that went away ten minutes ago', async () => {
    const world: World = { time: 0, ahead: 0 };
    const engine = engines.Redis as Engine;
    const [one] = await engine(world, { reads: 9, creates: 9, requests: 9 }, 5);
    expect(await client.hLen(keyOf('hubs'))).toBe(5);
    for (; world.time < 11 * 60_000; world.time += 30_000) await one?.present();
    expect(await client.hKeys(keyOf('hubs'))).toEqual(['hub-0']);
  });

  it.each(['state', 'hubs', 'create'])(
    'is lost as a whole, for each hub, if Redis loses its %s',
    async (name) => {
      const world: World = { time: 0, ahead: 0 };
      const engine = engines.Redis as Engine;
      const stores = await engine(world, { reads: 9, creates: 1, requests: 9 }, 2);
      expect(await stores[0]?.reserve('create', 0)).toEqual({ granted: true });
      world.time = 30_000;
      await client.del(keyOf(name));
      for (const store of stores)
        await expect(store.reserve('create', 30_000)).rejects.toThrow('Redis has lost the budget');
      for (const store of stores) await store.present();
    },
  );

  it('does not wait for a hub that has gone', async () => {
    const world: World = { time: 0, ahead: 0 };
    const engine = engines.Redis as Engine;
    const [one, other] = (await engine(world, { reads: 1, creates: 9, requests: 9 }, 2)) as [
      BudgetStore,
      BudgetStore,
    ];
    await one.reserve('read', 0);
    await other.reserve('read', 1);
    world.time = 62_300;
    expect(await one.reserve('read', 500_000)).toEqual({ granted: true });
  });
});
