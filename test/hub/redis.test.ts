import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { Budget } from '../../src/hub/budget.ts';
import { usualBudget } from '../../src/hub/ledger.ts';
import { connectRedis, type HubRedis, type RedisOptions } from '../../src/hub/redis.ts';
import { SharedWakes } from '../../src/hub/wakes.ts';
import { until } from '../until.ts';
import { LogModel } from './log-model.ts';
import { isRedisMissing, redisCommand, startRedis, startSentinel, type TestRedis } from './redis.ts';

async function connect(url: string, options: RedisOptions = {}) {
  const reasons: string[] = [];
  const onError = (error: unknown) => reasons.push((error as Error).message);
  const connection = await connectRedis(url, { ...options, onError });
  onTestFinished(connection.close);
  return { connection, reasons };
}

const works = ({ runLog }: HubRedis) =>
  runLog(['', 'always', '1000', '60000']).then(
    () => true,
    () => false,
  );

describe.skipIf(isRedisMissing)('a hub on Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());
  afterEach(() => redisCommand(redis.url, 'FLUSHALL'));

  it('keeps the log as the model in the other tests does', async () => {
    const { connection } = await connect(redis.url);
    await connection.ready();
    const model = new LogModel(Date.now);
    /** The ids and times differ: the places of the entries stand for them. */
    const both = async (known: number, mode: string, ...texts: string[]) => {
      const runs = [connection.runLog, async (args: readonly string[]) => model.run(args)];
      const results = [];
      for (const [at, run] of runs.entries()) {
        const id = known < 0 ? '' : (ids[at]?.[known] ?? '1-1');
        const [lost, added, , ...log] = await run([id, mode, '5', '60000', ...texts]);
        ids[at]?.push(...log.map(String).filter((_, index) => index % 2 === 0));
        results.push([lost, added, ...log.filter((_, index) => index % 2 === 1)]);
      }
      expect(results[0]).toEqual(results[1]);
      return results[0];
    };
    const ids: [string[], string[]] = [[], []];
    expect(await both(-1, 'once', 'read 0')).toEqual([0, 0, 'begin 0']);
    expect(await both(0, 'once', 'read 0')).toEqual([0, 1, 'read 0']);
    expect(await both(0, 'once', 'create 0')).toEqual([0, 0, 'read 0']);
    expect(await both(1, 'always', 'safety 5', 'limited 9')).toEqual([0, 1, 'safety 5', 'limited 9']);
    expect(await both(99, 'once', 'read 0')).toMatchObject({ 0: 1, 1: 0 });
    for (let count = 0; count < 9; count += 1) await both(-1, 'always', `read ${count}`);
    expect((await both(-1, 'always'))?.at(-1)).toBe('read 8');
    expect(await both(0, 'once')).toMatchObject({ 0: 1 });
  });

  it('shares its budget with another hub, and counts no request twice', async () => {
    const hubs = await Promise.all(
      [1, 2].map(async () => {
        const { connection } = await connect(redis.url);
        await connection.ready();
        const { monotonic: now } = systemClock;
        return new Budget(connection.runLog, { limits: usualBudget, hubs: 2, now, onCall() {} });
      }),
    );
    for (const hub of hubs) await hub.refresh();
    const grants = await Promise.all(
      Array.from({ length: 40 }, (_, at) => hubs[at % 2]?.reserve('create', 0)),
    );
    expect(grants.filter((grant) => grant?.granted)).toHaveLength(4);
    for (const hub of hubs) await hub.refresh();
    expect(hubs.map((hub) => hub.view().granted.create.length)).toEqual([4, 4]);
  });

  it('passes ids to the other hubs', async () => {
    const [one, other] = [await connect(redis.url), await connect(redis.url)];
    await Promise.all([one, other].map(({ connection }) => connection.ready()));
    const [mine, yours] = [one, other].map(({ connection }) => new SharedWakes(connection, systemClock));
    onTestFinished(() => mine?.close());
    onTestFinished(() => yours?.close());
    const ids: string[] = [];
    yours?.subscribe(['run_1', 'run_2'], 0, ({ id }) => ids.push(id));
    mine?.announce(['run_1', 'run_2']);
    await until(() => ids.length === 2);
  });

  it('fails at once while Redis is away, and goes on when it is back, empty', async () => {
    const own = await startRedis();
    onTestFinished(own.stop);
    const { connection, reasons } = await connect(own.url);
    await connection.ready();
    await own.kill();
    await until(async () => !(await works(connection)));
    const began = systemClock.monotonic();
    await expect(connection.runLog(['', 'always', '9', '9'])).rejects.toThrow();
    expect(systemClock.monotonic() - began).toBeLessThan(900);
    await own.restart();
    await until(() => works(connection));
    expect(reasons.length).toBeGreaterThan(0);
  });

  it('refuses a Sentinel under the URL of a server, and a cluster', async () => {
    const sentinel = await startSentinel('main', redis.port);
    const cluster = await startRedis(['--cluster-enabled', 'yes']);
    onTestFinished(sentinel.stop);
    onTestFinished(cluster.stop);
    const [one, other] = [await connect(sentinel.url), await connect(cluster.url)];
    await expect(one.connection.ready()).rejects.toThrow('the URL of Redis names a Sentinel');
    await expect(other.connection.ready()).rejects.toThrow('Redis Cluster is not supported');
  });
});
