// The budget of a hub whose calls of Redis overlap, while Redis loses its data, its connection or its time.
import { createClient } from '@redis/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BudgetLimits, RequestLine } from '../../src/hub/budget.ts';
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
const limits: BudgetLimits = { reads: 6, creates: 4, requests: 8 };

/** One hub, whose requests to Redis arrive and whose responses come back only when the test says so, each in order. */
async function world() {
  await client.flushAll();
  const sha = await client.scriptLoad(script);
  const now = { ms: 1_000_000, aheadMs: 0 };
  const sent: { arrive: () => Promise<void>; respond: () => void; lose: () => void }[] = [];
  const run: RunScript = (keys, args) =>
    new Promise((resolve, reject) => {
      let answer: Awaited<ReturnType<RunScript>>;
      sent.push({
        async arrive() {
          const time = String(1_700_000_000_000 + now.ms + now.aheadMs);
          answer = (await client.evalSha(sha, { keys, arguments: [...args, time] })) as never;
        },
        respond: () => resolve(answer),
        lose: () => reject(new Error('the connection is lost')),
      });
    });
  const monotonic = () => now.ms;
  const shared = redisBudget(run, limits, 'hub', monotonic);
  const budget = failoverBudget(shared, limits, monotonic, { report() {} });
  const grants: { line: RequestLine; at: number }[] = [];
  const waiting = new Set<RequestLine>();
  /** Lets the promises of the hub go on. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  return {
    now,
    budget,
    grants,
    sent,
    settle,
    /** The hub has one call under way in each line, as its scheduler does. */
    async reserve(line: RequestLine) {
      if (waiting.has(line)) return;
      waiting.add(line);
      void budget.reserve(line, now.ms).then(({ granted }) => {
        waiting.delete(line);
        if (granted) grants.push({ line, at: now.ms });
      });
      await settle();
    },
    /** Finishes every call that is under way. */
    async finish() {
      for (let call = sent.shift(); call !== undefined; call = sent.shift()) {
        await call.arrive();
        call.respond();
        await settle();
      }
    },
  };
}

/** The most grants in any minute. */
function mostInAMinute(times: readonly number[]): number {
  return Math.max(
    0,
    ...times.map((from) => times.filter((time) => time >= from && time < from + 60_000).length),
  );
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('create' as const, 'read' as const, 'safety' as const) },
  { weight: 8, arbitrary: fc.constant('arrive' as const) },
  { weight: 8, arbitrary: fc.constant('respond' as const) },
  { weight: 1, arbitrary: fc.constantFrom('lose the request' as const, 'lose the response' as const) },
  { weight: 1, arbitrary: fc.constant('empty Redis' as const) },
  {
    weight: 3,
    arbitrary: fc.record({ afterMs: fc.oneof(fc.nat(500), fc.nat(20_000), fc.constant(70_000)) }),
  },
  { weight: 1, arbitrary: fc.record({ aheadMs: fc.integer({ min: -100_000, max: 100_000 }) }) },
);

describe.skipIf(isRedisMissing)('a hub with several calls of Redis under way', () => {
  it('notices with each of them that Redis has lost the budget', async () => {
    const { reserve, sent, settle, finish, grants, now } = await world();
    for (let count = 0; count < limits.creates; count += 1) {
      await reserve('create');
      await finish();
    }
    await reserve('read');
    await finish();
    expect(grants).toHaveLength(limits.creates + 1);
    now.ms += 5_000;
    await client.flushAll();
    await reserve('create');
    await reserve('read');
    for (const { arrive } of sent) await arrive();
    // Both responses are in one packet.
    for (const { respond } of sent.splice(0)) respond();
    await settle();
    await finish();
    for (let count = 0; count < 2 * limits.requests; count += 1) {
      await reserve('create');
      await reserve('read');
      await finish();
    }
    expect(grants.filter(({ line }) => line === 'create')).toHaveLength(limits.creates);
    expect(grants).toHaveLength(limits.requests);
  });

  it('counts reported requests in Redis, and itself if the report is lost', async () => {
    const { budget, sent, settle, finish, now } = await world();
    void budget.report('create', [1_000]);
    await settle();
    await finish();
    expect(budget.view().granted.create).toEqual([now.ms - 1_000]);
    void budget.report('create', [500]);
    sent.shift()?.lose();
    await settle();
    expect(budget.view().granted.create).toEqual([now.ms - 1_000, now.ms - 500]);
  });

  it('never grants more than its limits in a minute, whatever is lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 200, size: 'max' }), async (steps) => {
        const { reserve, sent, settle, finish, grants, now } = await world();
        const arrived: typeof sent = [];
        for (const each of steps) {
          if (typeof each === 'object') {
            // No call is under way for longer than the timeout of a command.
            if ('afterMs' in each && each.afterMs > 500)
              for (const { lose } of [...arrived.splice(0), ...sent.splice(0)]) lose();
            await settle();
            now.ms += 'afterMs' in each ? each.afterMs : 0;
            if ('aheadMs' in each) now.aheadMs = each.aheadMs;
          } else if (each === 'empty Redis') await client.flushAll();
          else if (each === 'arrive' || each === 'lose the request') {
            const call = sent.shift();
            if (call === undefined) continue;
            if (each === 'arrive') {
              await call.arrive();
              arrived.push(call);
            } else call.lose();
          } else if (each === 'respond' || each === 'lose the response') {
            const call = arrived.shift();
            if (each === 'respond') call?.respond();
            else call?.lose();
          } else await reserve(each);
          await settle();
        }
        for (const call of arrived) call.respond();
        await settle();
        await finish();
        const times = (...lines: RequestLine[]) =>
          grants.filter(({ line }) => lines.includes(line)).map(({ at }) => at);
        expect(mostInAMinute(times('create'))).toBeLessThanOrEqual(limits.creates);
        expect(mostInAMinute(times('read', 'safety'))).toBeLessThanOrEqual(limits.reads);
        expect(mostInAMinute(times('create', 'read', 'safety'))).toBeLessThanOrEqual(limits.requests);
      }),
      { numRuns: Number(process.env.BUDGET_RUNS ?? 200) },
    );
  });
});
