import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { possibleRunIds } from '../../src/hub/deliveries.ts';
import { connectRedis, type HubRedis } from '../../src/hub/redis.ts';
import { mostRemembered } from '../../src/hub/wakes.ts';
import { isRedisMissing, redisCommand, startRedis, type TestRedis } from '../hub/redis.ts';
import { until } from '../until.ts';

const megabyte = 1_000_000;

describe.skipIf(isRedisMissing)('a hub keeps in Redis', () => {
  let redis: TestRedis;
  let connection: HubRedis;
  beforeAll(async () => {
    redis = await startRedis();
    connection = await connectRedis(redis.url);
    await connection.ready();
  });
  afterAll(async () => {
    connection?.close();
    await redis?.stop();
  });

  /** On a busy machine, a command may take longer than a hub waits. */
  const done = (command: () => Promise<unknown>) =>
    until(() =>
      command().then(
        () => true,
        () => false,
      ),
    );

  /** The memory of Redis in bytes after deliveries, in addition to what it needs without any. */
  async function memoryAfter(count: number, delivery: (at: number) => unknown): Promise<number> {
    const used = async () =>
      Number(/used_memory:(\d+)/.exec(String(await redisCommand(redis.url, 'INFO', 'memory')))?.[1]);
    await redisCommand(redis.url, 'FLUSHALL');
    const before = await used();
    for (let at = 0; at < count; at += 1) {
      const ids = [...possibleRunIds(JSON.stringify(delivery(at)))];
      await done(() => connection.announce(ids, 'hub', mostRemembered, 86_400_000));
    }
    return (await used()) - before;
  }

  it('at most 100 MB, even if each delivery names as many and as long ids as it can', async () => {
    const ids = (at: number) => Array.from({ length: 300 }, (_, n) => `${at}-${n}-`.padEnd(128, 'x'));
    const bytes = await memoryAfter(2500, ids);
    expect(bytes).toBeLessThan(100 * megabyte);
  });
});
