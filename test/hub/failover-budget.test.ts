// The budgets of hubs whose calls of Redis overlap, while Redis loses its data, its connections or its time.
import { createClient } from '@redis/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BudgetLimits, type BudgetStore, lines, type RequestLine } from '../../src/hub/budget.ts';
import { failoverBudget } from '../../src/hub/failover-budget.ts';
import { budgetScript, type RunScript, redisBudget } from '../../src/hub/redis-budget.ts';
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

const script = budgetScript('local raw = tonumber(ARGV[#ARGV])');
const limits: BudgetLimits = { reads: 10, creates: 6, requests: 14 };

/** The time of each, apart from the true one: the clock of Redis may be set, and that of a hub may stand still. */
interface Now {
  ms: number;
  aheadMs: number;
}

interface Call {
  arrive(): Promise<void>;
  respond(): void;
  lose(): void;
}

interface TestHub {
  budget: BudgetStore;
  /** The calls of Redis on the way there, and those whose responses are on the way back, each in order. */
  sent: Call[];
  arrived: Call[];
  waiting: Set<RequestLine>;
  stoppedMs: number;
  /** Whether the hub is cut off from Redis: everything that it sends is lost. */
  isCutOff: boolean;
}

/** Lets the promises of the hubs go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Every hub calls Redis at least this often, apart from one whose clock stands still. */
const beatMs = 2_000;

/**
 * Hubs on one Redis, each with its own connection. Requests and responses arrive only when the test says so.
 * @param starts whether the hubs have just started
 */
async function world(count = 1, starts = false) {
  await client.flushAll();
  const sha = await client.scriptLoad(script);
  const now: Now = { ms: 1_000_000, aheadMs: 0 };
  const grants: { line: RequestLine; at: number }[] = [];
  let names = 0;

  const start = (at: number): TestHub => {
    const run: RunScript = (keys, args) =>
      new Promise((resolve, reject) => {
        let answer: Awaited<ReturnType<RunScript>> | undefined;
        const lost = () => reject(new Error('the connection is lost'));
        hub.sent.push({
          async arrive() {
            if (hub.isCutOff) return;
            const time = String(1_700_000_000_000 + now.ms + now.aheadMs);
            answer = (await client.evalSha(sha, { keys, arguments: [...args, time] })) as never;
          },
          respond: () => (answer === undefined ? lost() : resolve(answer)),
          lose: lost,
        });
      });
    const monotonic = () => now.ms + at * 12_345 - hub.stoppedMs;
    const hub = {
      sent: [],
      arrived: [],
      waiting: new Set(),
      stoppedMs: 0,
      isCutOff: false,
    } as unknown as TestHub;
    names += 1;
    const shared = redisBudget(run, limits, `hub-${names}`, monotonic);
    hub.budget = failoverBudget(shared, monotonic, { report() {} });
    return hub;
  };
  const hubs = Array.from({ length: count }, (_, at) => start(at));

  /** Finishes every call that is under way. */
  const finish = async () => {
    for (const hub of hubs) {
      for (const call of hub.arrived.splice(0)) call.respond();
      await settle();
      for (let call = hub.sent.shift(); call !== undefined; call = hub.sent.shift()) {
        await call.arrive();
        call.respond();
        await settle();
      }
    }
  };
  const lose = async () => {
    for (const { arrived, sent } of hubs)
      for (const call of [...arrived.splice(0), ...sent.splice(0)]) call.lose();
    await settle();
  };
  /** Each hub learns of all others, and of their grants. */
  const meet = async () => {
    for (let round = 0; round < 2; round += 1) {
      await finish();
      for (const { budget } of hubs) void budget.present();
    }
    await finish();
  };

  const pass = async (ms: number, stopped?: TestHub) => {
    const step = (part: number) => {
      now.ms += part;
      if (stopped !== undefined) stopped.stoppedMs += part;
    };
    step(Math.max(0, ms - beatMs));
    if (ms > beatMs) {
      for (const hub of hubs) if (hub !== stopped) void hub.budget.present();
      await finish();
    }
    step(Math.min(ms, beatMs));
  };

  if (!starts) {
    await meet();
    await pass(65_000);
    await meet();
  }

  /** A hub has one call under way in each line, as its scheduler does. */
  const reserve = async (line: RequestLine, hub = hubs[0] as TestHub) => {
    if (hub.waiting.has(line)) return;
    hub.waiting.add(line);
    void hub.budget.reserve(line, now.ms).then(({ granted }) => {
      hub.waiting.delete(line);
      if (granted) grants.push({ line, at: now.ms });
    });
    await settle();
  };

  return {
    now,
    grants,
    hubs,
    reserve,
    finish,
    lose,
    meet,
    pass,
    /** The gates of a hub that ends get no grants from calls that were under way. */
    restart(at: number) {
      hubs[at] = start(at);
    },
    /** Each hub takes everything that it gets. */
    async take(...of: RequestLine[]) {
      for (let times = 0; times < 2 * limits.requests; times += 1)
        for (const line of of)
          for (const hub of hubs) {
            await reserve(line, hub);
            await finish();
          }
    },
    /** The most grants in any minute. */
    most(...of: RequestLine[]) {
      const times = grants.filter(({ line }) => of.includes(line)).map(({ at }) => at);
      return Math.max(
        0,
        ...times.map((from) => times.filter((time) => time >= from && time < from + 60_000).length),
      );
    },
  };
}

type World = Awaited<ReturnType<typeof world>>;

function expectAtMost({ most }: World, { creates, reads, requests }: BudgetLimits) {
  expect({
    creates: Math.max(creates, most('create')),
    reads: Math.max(reads, most('read', 'safety')),
    requests: Math.max(requests, most(...lines)),
  }).toEqual({ creates, reads, requests });
}

const keys = ['state', 'hubs', 'claims', ...lines].map((name) => `{rungate:hub}:${name}`);
const usual = [
  { weight: 12, arbitrary: fc.record({ reserve: fc.constantFrom(...lines) }) },
  { weight: 16, arbitrary: fc.constant('arrive' as const) },
  { weight: 16, arbitrary: fc.constant('respond' as const) },
  {
    weight: 5,
    arbitrary: fc.record({ afterMs: fc.oneof(fc.nat(500), fc.nat(20_000), fc.constant(70_000)) }),
  },
  { weight: 1, arbitrary: fc.record({ aheadMs: fc.integer({ min: -300_000, max: 300_000 }) }) },
];
/** The machine of a hub is suspended. */
const suspensions = [
  { weight: 1, arbitrary: fc.record({ stopMs: fc.oneof(fc.nat(20_000), fc.constant(300_000)) }) },
];
const faultsForAll = [
  { weight: 1, arbitrary: fc.constant('empty Redis' as const) },
  { weight: 1, arbitrary: fc.record({ evict: fc.constantFrom(...keys) }) },
  { weight: 1, arbitrary: fc.constant('lose Redis' as const) },
];
const faultsForOne = [
  { weight: 1, arbitrary: fc.constantFrom('lose the request' as const, 'lose the response' as const) },
  { weight: 1, arbitrary: fc.record({ isCutOff: fc.boolean() }) },
];
const restarts = [{ weight: 1, arbitrary: fc.constant('restart' as const) }];

type Event =
  | { reserve: RequestLine }
  | { afterMs: number }
  | { stopMs: number }
  | { aheadMs: number }
  | { evict: string }
  | { isCutOff: boolean }
  | 'arrive'
  | 'respond'
  | 'empty Redis'
  | 'lose Redis'
  | 'lose the request'
  | 'lose the response'
  | 'restart';

const numRuns = Number(process.env.BUDGET_RUNS ?? 100);
const mostHubs = 4;

/** The steps of a test: each event happens to one of the hubs. */
const steps = (...events: { weight: number; arbitrary: fc.Arbitrary<Event> }[]) =>
  fc.array(fc.tuple(fc.nat(mostHubs - 1), fc.oneof(...events)), { maxLength: 250, size: 'max' });

/** @param meets whether the hubs know of each other's grants when Redis fails, and all notice it */
async function play(on: World, schedule: (readonly [number, Event])[], meets: boolean) {
  const { now, hubs, reserve, lose, meet, pass, finish, restart } = on;
  for (const [index, event] of schedule) {
    const at = index % hubs.length;
    const hub = hubs[at] as TestHub;
    if (event === 'empty Redis' || (typeof event === 'object' && 'evict' in event)) {
      if (meets) await meet();
      if (event === 'empty Redis') await client.flushAll();
      else await client.del(event.evict);
    } else if (event === 'lose Redis') {
      if (meets) await meet();
      for (const { budget } of hubs) void budget.present();
      await lose();
    } else if (event === 'restart') restart(at);
    else if (event === 'arrive' || event === 'lose the request') {
      const call = hub.sent.shift();
      if (call === undefined) continue;
      if (event === 'arrive') {
        await call.arrive();
        hub.arrived.push(call);
      } else call.lose();
    } else if (event === 'respond' || event === 'lose the response') {
      const call = hub.arrived.shift();
      if (event === 'respond') call?.respond();
      else call?.lose();
    } else if ('reserve' in event) await reserve(event.reserve, hub);
    else if ('aheadMs' in event) now.aheadMs = event.aheadMs;
    else if ('isCutOff' in event) hub.isCutOff = event.isCutOff;
    else {
      // No call is under way for longer than the timeout of a command.
      if (!('afterMs' in event) || event.afterMs > 500) await (meets ? finish() : lose());
      if ('afterMs' in event) await pass(event.afterMs);
      else await pass(event.stopMs, hub);
    }
    await settle();
  }
  await finish();
}

/** The limits, each multiplied and rounded down. */
const times = (by: number): BudgetLimits => ({
  reads: Math.floor(by * limits.reads),
  creates: Math.floor(by * limits.creates),
  requests: Math.floor(by * limits.requests),
});

describe.skipIf(isRedisMissing)('a hub with several calls of Redis under way', () => {
  it('notices with each of them that Redis has lost the budget', async () => {
    const on = await world();
    const { reserve, hubs, finish, take, now } = on;
    const [hub] = hubs as [TestHub];
    for (let count = 0; count < limits.creates; count += 1) {
      await reserve('create');
      await finish();
    }
    await reserve('read');
    await finish();
    expect(on.grants).toHaveLength(limits.creates + 1);
    now.ms += 5_000;
    await client.flushAll();
    await reserve('create');
    await reserve('read');
    for (const { arrive } of hub.sent) await arrive();
    // Both responses are in one packet.
    for (const { respond } of hub.sent.splice(0)) respond();
    await settle();
    await finish();
    await take('create', 'read');
    expect(on.grants.filter(({ line }) => line === 'create')).toHaveLength(limits.creates);
    expect(on.grants).toHaveLength(limits.requests);
  });

  it('counts reported requests in Redis, and itself if the report is lost', async () => {
    const { hubs, finish, now } = await world();
    const [{ budget, sent }] = hubs as [TestHub];
    void budget.report('create', [1_000]);
    await finish();
    expect(budget.view().granted.create).toEqual([now.ms - 1_000]);
    void budget.report('create', [500]);
    sent.shift()?.lose();
    await settle();
    expect(budget.view().granted.create).toEqual([now.ms - 1_000, now.ms - 500]);
  });

  it('counts a grant that was on its way when the hub seemed to share the budget again', async () => {
    const { hubs, reserve, lose, pass, now, most } = await world();
    const [{ budget, sent }] = hubs as [TestHub];
    void budget.present();
    await lose();
    await pass(61_800);
    await reserve('create');
    now.ms += 400;
    await reserve('read');
    const [create, read] = sent.splice(0) as [Call, Call];
    read.lose();
    await settle();
    await create.arrive();
    create.respond();
    await settle();
    for (let count = 0; count < limits.creates; count += 1) {
      await reserve('create');
      await lose();
    }
    expect(most('create')).toBe(limits.creates);
  });

  it('never grants more than its limits in a minute, whatever is lost', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps(...usual, ...suspensions, ...faultsForAll, ...faultsForOne),
        async (schedule) => {
          const on = await world();
          await play(on, schedule, false);
          expectAtMost(on, limits);
        },
      ),
      { numRuns },
    );
  });
});

describe.skipIf(isRedisMissing)('up to four hubs on one Redis', () => {
  const count = fc.integer({ min: 1, max: mostHubs });

  it('never grant more than the limits in a minute, if all lose Redis or the budget', async () => {
    await fc.assert(
      fc.asyncProperty(count, steps(...usual, ...faultsForAll), async (size, schedule) => {
        const on = await world(size);
        await play(on, schedule, true);
        expectAtMost(on, limits);
      }),
      { numRuns },
    );
  });

  it('never grant more than the limits in a minute while they restart, if Redis works', async () => {
    await fc.assert(
      fc.asyncProperty(count, steps(...usual, ...suspensions, ...restarts), async (size, schedule) => {
        const on = await world(size);
        await play(on, schedule, true);
        expectAtMost(on, limits);
      }),
      { numRuns },
    );
  });

  it('never grant more than a quarter more for each start that follows a loss of the budget', async () => {
    await fc.assert(
      fc.asyncProperty(count, steps(...usual, ...faultsForAll, ...restarts), async (size, schedule) => {
        const on = await world(size);
        await play(on, schedule, true);
        expectAtMost(on, times(1 + schedule.filter(([, event]) => event === 'restart').length / 4));
      }),
      { numRuns },
    );
  });

  it('never grant more than the limits and the shares of all but one, if some are suspended or lose Redis', async () => {
    await fc.assert(
      fc.asyncProperty(
        count,
        steps(...usual, ...suspensions, ...faultsForAll, ...faultsForOne),
        async (size, schedule) => {
          const on = await world(size);
          await play(on, schedule, false);
          expectAtMost(on, times(2 - 1 / size));
        },
      ),
      { numRuns },
    );
  });
});

describe.skipIf(isRedisMissing)('hubs that lost Redis', () => {
  it('share what was left, each as if all others used as much', async () => {
    const on = await world(2);
    await on.reserve('create');
    await on.reserve('read');
    await on.meet();
    for (const { budget } of on.hubs) void budget.present();
    await on.lose();
    for (let count = 0; count < limits.requests; count += 1)
      for (const hub of on.hubs)
        for (const line of ['create', 'read'] as const) {
          await on.reserve(line, hub);
          await on.lose();
        }
    // Of six creates and of eight reads, one is granted already, and an odd one is left over.
    expect(on.most('create')).toBe(5);
    expect(on.most('read')).toBe(7);
    const [{ budget }] = on.hubs as [TestHub];
    expect(budget.view()).toMatchObject({
      configured: limits,
      present: { reads: 5, creates: 3, requests: 7 },
      hubs: 2,
      place: 0,
    });
  });
});

describe.skipIf(isRedisMissing)('a hub that starts', () => {
  const creates = async ({ hubs, take, most }: World) => {
    await take('create');
    return [most('create'), hubs[0]?.budget.view().present.creates];
  };

  it('has a quarter of the budget until Redis has had it for a minute', async () => {
    const on = await world(1, true);
    await on.meet();
    expect(await creates(on)).toEqual([1, 1]);
    await on.pass(65_000);
    await on.meet();
    expect(await creates(on)).toEqual([limits.creates, limits.creates]);
  });

  it('has at once what is left of a budget that Redis has had for a minute', async () => {
    const on = await world();
    await on.reserve('create');
    await on.finish();
    on.restart(0);
    await on.meet();
    expect(await creates(on)).toEqual([limits.creates, limits.creates]);
  });

  it('has at once a budget in Redis that it reached only after a failure', async () => {
    const on = await world();
    await on.reserve('create');
    await on.finish();
    on.restart(0);
    void on.hubs[0]?.budget.present();
    await on.lose();
    expect(on.hubs[0]?.budget.view()).toMatchObject({ hubs: 2, present: { requests: 1 } });
    await on.meet();
    expect(on.hubs[0]?.budget.view()).toMatchObject({ hubs: 2, present: { requests: 7 } });
  });

  it('does not trust that more time has passed than a hub saw, if Redis has another time', async () => {
    const on = await world();
    await on.take('create');
    on.now.aheadMs += 120_000;
    on.restart(0);
    await on.meet();
    await on.take('create');
    expect(on.most('create')).toBe(limits.creates);
  });
});
