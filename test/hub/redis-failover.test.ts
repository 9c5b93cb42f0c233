import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { ConfigError } from '../../src/errors.ts';
import { connectRedis, type HubRedis, type RedisOptions } from '../../src/hub/redis.ts';
import { redisWakes, type Wake } from '../../src/hub/wakes.ts';
import { until } from '../until.ts';
import {
  isRedisMissing,
  redisCommand,
  replicate,
  startRedis,
  startSentinel,
  type TestRedis,
} from './redis.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Watched {
  connection: HubRedis;
  /** The reasons why a connection was lost or failed. */
  reasons: string[];
}

async function connect(url: string, options: RedisOptions = {}): Promise<Watched> {
  const reasons: string[] = [];
  const onError = (error: unknown) => reasons.push((error as Error).message);
  const connection = await connectRedis(url, { ...options, onError });
  cleanups.push(connection.close);
  return { connection, reasons };
}

const stream = '{rungate:hub:1}:wakes';
const succeeds = (call: () => Promise<unknown>) =>
  call().then(
    () => true,
    () => false,
  );

/** Announces an id until the call succeeds. */
const announced = ({ connection }: Watched, id: string) =>
  until(() => succeeds(() => redisWakes(connection.wakes, systemClock).announce([id])));

/** Follows the stream, and returns the ids so far. */
function followed({ connection }: Watched): string[] {
  const ids: string[] = [];
  cleanups.push(redisWakes(connection.wakes, systemClock).listen(({ id }: Wake) => ids.push(id)));
  return ids;
}

/** Two servers with the same port, and a name that is the address of one of them. */
describe.skipIf(isRedisMissing)('with a name that moves', () => {
  let one: TestRedis;
  let other: TestRedis;
  beforeAll(async () => {
    one = await startRedis();
    other = await startRedis([], '127.0.0.2', one.port);
  });
  afterAll(async () => {
    await one?.stop();
    await other?.stop();
  });
  afterEach(async () => {
    for (const each of [one, other]) {
      await redisCommand(each.url, 'REPLICAOF', 'NO', 'ONE');
      await redisCommand(each.url, 'FLUSHALL');
    }
  });

  it('both connections go to the new master when the old one becomes a replica', async () => {
    let address = '127.0.0.1';
    const hub = await connect(`redis://redis.internal:${one.port}`, { lookup: async () => [address] });
    const ids = followed(hub);
    await announced(hub, 'run_1');
    await until(() => ids.includes('run_1'));
    await redisCommand(one.url, 'REPLICAOF', '127.0.0.2', String(other.port));
    address = '127.0.0.2';
    await announced(hub, 'run_2');
    await until(() => ids.includes('run_2'));
    expect(await redisCommand(other.url, 'EXISTS', stream)).toBe(1);
    expect(hub.reasons[0]).toMatch(/READONLY|UNBLOCKED/);
  });

  it('the connections move while the old server is still a master, and no command fails', async () => {
    let address = '127.0.0.1';
    const clock = {
      ...systemClock,
      // The check of the name comes soon.
      sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === 10_000 ? 10 : ms, signal),
    };
    const hub = await connect(`redis://redis.internal:${one.port}`, { lookup: async () => [address], clock });
    const ids = followed(hub);
    await announced(hub, 'run_1');
    address = '127.0.0.2';
    const wakes = redisWakes(hub.connection.wakes, systemClock);
    await until(async () => {
      await wakes.announce(['run_2']);
      return (await redisCommand(other.url, 'EXISTS', stream)) === 1;
    });
    ids.length = 0;
    await wakes.announce(['run_3']);
    await until(() => ids.includes('run_3'));
    expect(hub.reasons).toEqual([]);
  });

  it('a server stays in use while its name cannot be looked up', async () => {
    let lookups = 0;
    const lookup = async () => {
      lookups += 1;
      if (lookups > 1) throw new Error('getaddrinfo EAI_AGAIN');
      return ['127.0.0.1'];
    };
    const clock = {
      ...systemClock,
      sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === 10_000 ? 10 : ms, signal),
    };
    const hub = await connect(`redis://redis.internal:${one.port}`, { lookup, clock });
    await until(() => lookups > 3);
    await redisWakes(hub.connection.wakes, systemClock).announce(['run_1']);
    expect(hub.reasons).toEqual([]);
  });

  it('a replica is not used, even if its name is the first of two', async () => {
    await replicate(one, other);
    const addresses = ['127.0.0.1'];
    const hub = await connect(`redis://redis.internal:${one.port}`, { lookup: async () => addresses });
    await until(() => hub.reasons.length > 1);
    expect(new Set(hub.reasons)).toEqual(new Set([`the Redis server is a replica: 127.0.0.1:${one.port}`]));
    expect(await succeeds(() => hub.connection.wakes.time())).toBe(false);
    addresses.push('127.0.0.2');
    await hub.connection.ready();
    await announced(hub, 'run_1');
  });
});

describe.skipIf(isRedisMissing)('a connection', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());
  const set = (name: string, value: string) => redisCommand(redis.url, 'CONFIG', 'SET', name, value);

  it.each<[string, () => Promise<unknown>, () => Promise<unknown>, RegExp]>([
    [
      'lacks its replicas',
      () => set('min-replicas-to-write', '1'),
      () => set('min-replicas-to-write', '0'),
      /^NOREPLICAS /,
    ],
    [
      'is a replica without its master',
      async () => {
        await set('replica-serve-stale-data', 'no');
        await redisCommand(redis.url, 'REPLICAOF', '127.0.0.1', '1');
      },
      () => redisCommand(redis.url, 'REPLICAOF', 'NO', 'ONE'),
      /^(?:MASTERDOWN|UNBLOCKED) /,
    ],
  ])('is replaced while the server %s', async (_name, begin, end, reason) => {
    const hub = await connect(redis.url);
    const ids = followed(hub);
    await announced(hub, 'run_1');
    await until(() => ids.includes('run_1'));
    await begin();
    await until(() => succeeds(() => hub.connection.replays.setIfAbsent('x', 1000)).then((is) => !is));
    await until(() => hub.reasons.length > 0);
    await end();
    await announced(hub, 'run_2');
    await until(() => ids.includes('run_2'));
    expect(hub.reasons[0]).toMatch(reason);
  });

  it('is kept when the server is full', async () => {
    const hub = await connect(redis.url);
    await announced(hub, 'run_1');
    await set('maxmemory', '1');
    await expect(hub.connection.replays.setIfAbsent('full', 1000)).rejects.toThrow('OOM');
    await set('maxmemory', '0');
    expect(await hub.connection.replays.setIfAbsent('full', 1000)).toBe(true);
    expect(hub.reasons).toEqual([]);
  });

  it('fails at once while there is none, with the reason', async () => {
    const hub = await connect('redis://127.0.0.1:1');
    await until(() => hub.reasons.length > 0);
    await expect(hub.connection.wakes.time()).rejects.toThrow('connect ECONNREFUSED 127.0.0.1:1');
  });

  it('waits for a server that loads its data', async () => {
    // 3 s for 50 keys; after each one the server responds to its clients.
    const slowly = ['--key-load-delay', '60000', '--loading-process-events-interval-bytes', '1024'];
    const settings = [...slowly, '--rdbcompression', 'no'];
    const loading = await startRedis(settings);
    cleanups.push(loading.stop);
    const fill = "for i = 1, 50 do redis.call('SET', i, string.rep(i, 2000)) end";
    await redisCommand(loading.url, 'EVAL', fill, '0');
    await redisCommand(loading.url, 'SAVE');
    const hub = await connect(loading.url);
    await hub.connection.ready();
    await loading.kill();
    const restarted = loading.restart();
    await announced(hub, 'run_1');
    await restarted;
    expect(hub.reasons).toEqual(expect.arrayContaining([expect.stringMatching(/^LOADING /)]));
  });
});

describe.skipIf(isRedisMissing)('a server that can never be used', () => {
  it('may be part of a cluster', async () => {
    const redis = await startRedis(['--cluster-enabled', 'yes']);
    cleanups.push(redis.stop);
    const hub = await connect(redis.url);
    await expect(hub.connection.ready()).rejects.toThrow(ConfigError);
    expect(hub.reasons[0]).toBe(`hub: Redis Cluster is not supported: 127.0.0.1:${redis.port}`);
    expect(await succeeds(() => hub.connection.wakes.time())).toBe(false);
  });

  it('may be a Sentinel, whose URL has another form', async () => {
    const sentinel = await startSentinel('main', 1);
    cleanups.push(sentinel.stop);
    const hub = await connect(sentinel.url);
    await expect(hub.connection.ready()).rejects.toMatchObject({
      message: `hub: the URL of Redis names a Sentinel: 127.0.0.1:${sentinel.port}`,
      hint: expect.stringContaining(`redis-sentinel://127.0.0.1:${sentinel.port}#`),
    });
  });

  it('may not be a Sentinel, or may not know the master', async () => {
    const [redis, sentinel] = [await startRedis(), await startSentinel('main', 1)];
    cleanups.push(redis.stop, sentinel.stop);
    for (const [port, message] of [
      [redis.port, `Sentinel 127.0.0.1:${redis.port}: ERR unknown command`],
      [sentinel.port, `Sentinel 127.0.0.1:${sentinel.port}: ERR No such master with that name`],
      [1, 'Sentinel 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1'],
    ]) {
      const hub = await connect(`redis-sentinel://127.0.0.1:${port}#other`);
      await until(() => hub.reasons.length > 0);
      expect(hub.reasons[0]).toContain(message);
    }
  });
});
