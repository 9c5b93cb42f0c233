import { afterEach, describe, expect, it } from 'vitest';
import {
  expectedCode,
  type GateProcess,
  type HubProcess,
  type HubProxy,
  register,
  startGate,
  startHub,
  startProxy,
  tenantSecret,
} from '../../bench/hub-fleet.ts';
import { type Mock, startMock } from '../../src/index.ts';
import { bin } from '../e2e/built.ts';
import { isRedisMissing, startRedis, type TestRedis } from '../hub/redis.ts';
import { until } from '../until.ts';

// Five gates, two hubs, a proxy in front of them and Redis, as processes. bench/hub.mjs does the same with fifty gates.

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** How the runs end, in the order of their creation. */
const endings = ['passed', 'failed', 'blocked', 'cancelled', 'passed'] as const;

interface Fleet {
  mock: Mock;
  redis: TestRedis;
  hubs: readonly [HubProcess, HubProcess];
  proxy: HubProxy;
  gates: GateProcess[];
}

/** Starts everything, and waits until each gate has read its run once. No run ends before the test ends it. */
async function startFleet({
  delivered = 2,
  args,
}: {
  /** How many of the hubs receive deliveries. */
  delivered?: number;
  args: readonly string[];
}): Promise<Fleet> {
  const mock = await startMock({ deliveries: 'loopback', tenantSecret, outcome: 'stuck' });
  cleanups.push(() => mock.close());
  const redis = await startRedis();
  cleanups.push(() => redis.stop());
  const hubs: [HubProcess, HubProcess] = [await startHub(bin, redis.url), await startHub(bin, redis.url)];
  for (const hub of hubs) cleanups.push(() => hub.kill());
  for (const hub of hubs.slice(0, delivered)) await register(mock, hub);
  const proxy = await startProxy(hubs.map(({ port }) => port));
  cleanups.push(() => proxy.close());
  const gates = endings.map(() => startGate(bin, mock, proxy.url, args));
  for (const { child } of gates) cleanups.push(() => child.kill('SIGKILL'));
  await until(() => readRuns(mock).size === endings.length);
  return { mock, redis, hubs, proxy, gates };
}

const reads = (mock: Mock) => mock.requests.filter(({ endpoint }) => endpoint === 'run.status');
const readRuns = (mock: Mock) => new Set(reads(mock).map(({ path }) => path));

function endRuns(mock: Mock, from = 0, to: number = endings.length): void {
  for (const [at, { runId }] of mock.runs.entries())
    if (at >= from && at < to) mock.endRun(runId, endings[at] ?? 'passed');
}

/** Waits for all gates. Each must exit with the code that its run calls for, and all together must have created five runs. */
async function judge({ mock, gates }: Fleet): Promise<string[]> {
  const results = await Promise.all(gates.map(({ ended }) => ended));
  for (const { code, runId, err } of results)
    expect({ code, err }).toEqual({ code: expectedCode(mock, runId), err });
  expect(new Set(results.map(({ runId }) => runId)).size).toBe(endings.length);
  expect(mock.runs).toHaveLength(endings.length);
  expect(results.map(({ code }) => code).toSorted()).toEqual([0, 0, 1, 2, 4]);
  return results.map(({ err }) => err);
}

describe.skipIf(isRedisMissing)('five gates with two hubs', () => {
  // Nothing but a wake-up could end them.
  const patient = ['--interval', '30m'];

  it('are woken at both hubs by the deliveries to one of them, and read each run twice', async () => {
    const fleet = await startFleet({ delivered: 1, args: patient });
    endRuns(fleet.mock);
    for (const err of await judge(fleet)) expect(err).toContain('woken by a webhook');
    expect(reads(fleet.mock)).toHaveLength(2 * endings.length);
  });

  it('are woken by the other hub when one is killed', async () => {
    const fleet = await startFleet({ args: patient });
    await fleet.hubs[0].kill();
    endRuns(fleet.mock);
    for (const err of await judge(fleet)) expect(err).toContain('woken by a webhook');
  });

  it('are woken while Redis is away, and after it is back', async () => {
    const fleet = await startFleet({ args: patient });
    await fleet.redis.kill();
    endRuns(fleet.mock, 0, 3);
    await until(() => reads(fleet.mock).length >= endings.length + 3);
    await fleet.redis.restart();
    for (const hub of fleet.hubs) await until(async () => (await hub.health()).redis === true);
    endRuns(fleet.mock, 3);
    for (const err of await judge(fleet)) expect(err).toContain('woken by a webhook');
  });

  it('poll by themselves when both hubs are killed', async () => {
    const fleet = await startFleet({ args: ['--interval', '1s'] });
    for (const hub of fleet.hubs) await hub.kill();
    endRuns(fleet.mock);
    for (const err of await judge(fleet)) expect(err).not.toContain('woken by a webhook');
  });
});
