import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { connectRedis } from '../../src/hub/redis.ts';
import { SharedWakes } from '../../src/hub/wakes.ts';
import {
  isRedisMissing,
  redisCommand,
  replicate,
  startRedis,
  startSentinel,
  type TestRedis,
} from '../hub/redis.ts';
import { until } from '../until.ts';

interface Deployment {
  master: TestRedis;
  replica: TestRedis;
  sentinels: TestRedis[];
  url: string;
}

const redisPassword = 'password-of-redis';
const sentinelPassword = 'password+of=sentinel';

/** A master, a replica and three Sentinels, all with passwords. */
async function deploy(): Promise<Deployment> {
  const settings = ['--requirepass', redisPassword, '--masterauth', redisPassword];
  const [master, replica] = [await startRedis(settings), await startRedis(settings)];
  for (const { stop } of [master, replica]) onTestFinished(stop);
  for (const redis of [master, replica])
    Object.assign(redis, { url: redis.url.replace('//', `//:${redisPassword}@`) });
  await replicate(replica, master);
  const sentinels = await Promise.all(
    [1, 2, 3].map(() =>
      startSentinel('main', master.port, [
        `requirepass ${sentinelPassword}`,
        `sentinel sentinel-pass ${sentinelPassword}`,
        `sentinel auth-pass main ${redisPassword}`,
      ]),
    ),
  );
  for (const { stop } of sentinels) onTestFinished(stop);
  // A failover needs Sentinels that know of each other and of the replica.
  await until(async () => {
    const known = await Promise.all(
      sentinels.map(async ({ port }) => {
        const info = await redisCommand(
          `redis://:${encodeURIComponent(sentinelPassword)}@127.0.0.1:${port}`,
          'INFO',
          'sentinel',
        );
        return /status=ok,.*slaves=1,sentinels=3/.test(String(info));
      }),
    );
    return known.every(Boolean);
  });
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const query = `sentinelPassword=${sentinelPassword}`;
  return {
    master,
    replica,
    sentinels,
    url: `redis-sentinel://:${redisPassword}@${hosts}/0?${query}#main`,
  };
}

const heard = ['before', 'after', 'on the replica', 'on the first master again'];

interface TestHub {
  reasons: string[];
  /** The ids that this hub heard of. */
  ids: string[];
  announce(id: string): void;
}

async function startHub(url: string): Promise<TestHub> {
  const reasons: string[] = [];
  const onError = (error: unknown) => reasons.push((error as Error).message);
  const connection = await connectRedis(url, { onError });
  onTestFinished(connection.close);
  await connection.ready();
  const wakes = new SharedWakes(connection, systemClock);
  const ids: string[] = [];
  onTestFinished(() => wakes.close());
  wakes.subscribe(heard, 0, ({ id }) => ids.push(id));
  return { reasons, ids, announce: (id) => wakes.announce([id]) };
}

/** Two hubs that hear of each other’s ids. */
async function startHubs(url: string) {
  const hubs = [await startHub(url), await startHub(url)] as const;
  hubs[0].announce('before');
  await until(() => hubs.every(({ ids }) => ids.includes('before')));
  return hubs;
}

/** Also false while the server does not respond. */
const isMaster = (redis: TestRedis) =>
  redisCommand(redis.url, 'ROLE').then(
    (role) => (role as unknown[])[0] === 'master',
    () => false,
  );

describe.skipIf(isRedisMissing)('with three Sentinels, two hubs go to the new master', () => {
  it.each<[string, (on: Deployment) => Promise<unknown>]>([
    ['the master is killed', ({ master }) => master.kill()],
    ['the master freezes', async ({ master }) => master.freeze()],
    [
      'an operator starts a failover',
      ({ sentinels }) =>
        redisCommand(
          `redis://:${encodeURIComponent(sentinelPassword)}@127.0.0.1:${sentinels[0]?.port}`,
          'SENTINEL',
          'FAILOVER',
          'main',
        ),
    ],
    [
      'the master is killed and one Sentinel is gone',
      async ({ master, sentinels }) => {
        await sentinels[0]?.kill();
        await master.kill();
      },
    ],
  ])('after %s', async (_name, fail) => {
    const on = await deploy();
    const [one, other] = await startHubs(on.url);
    await fail(on);
    await until(() => isMaster(on.replica));
    one.announce('after');
    await until(() => one.ids.includes('after') && other.ids.includes('after'));
    expect(await redisCommand(on.replica.url, 'EXISTS', '{rungate:hub:2}:wakes')).toBe(1);
    expect(one.reasons.concat(other.reasons).join('\n')).not.toContain(sentinelPassword);
  });

  it('and stay on the master while all Sentinels are gone', async () => {
    const on = await deploy();
    const [one, other] = await startHubs(on.url);
    for (const sentinel of on.sentinels) await sentinel.kill();
    one.announce('after');
    await until(() => other.ids.includes('after'));
    expect(one.reasons).toEqual([]);
  });
});
