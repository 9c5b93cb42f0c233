import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { Budget } from '../../src/hub/budget.ts';
import { redisGates } from '../../src/hub/gate-store.ts';
import { usualBudget } from '../../src/hub/ledger.ts';
import { connectRedis } from '../../src/hub/redis.ts';
import { SharedWakes } from '../../src/hub/wakes.ts';
import { until } from '../until.ts';
import { isRedisMissing, redisCommand, startRedis, startSentinel } from './redis.ts';

const fileOf = (name: string) => fileURLToPath(new URL(`../../docs/hub/${name}`, import.meta.url));
const permissions = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/ \+(\S+)/g)].map(([, name = '']) => name).sort();

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The commands that clients sent since the last `CONFIG RESETSTAT`, and those in their scripts. */
async function commandsIn(url: string): Promise<(string | undefined)[]> {
  const stats = String(await redisCommand(url, 'INFO', 'commandstats'));
  const names = [...stats.matchAll(/^cmdstat_([^:]+):/gm)].map(([, name]) => name);
  // Of these, logging in needs no permission, and the test sends the others.
  const without = [
    'auth',
    'hello',
    'info',
    'client|setinfo',
    'client|maint_notifications',
    'config|resetstat',
  ];
  return names.filter((name) => name !== undefined && !without.includes(name)).sort();
}

const login = 'rungate:replace-this-password@';

describe.skipIf(isRedisMissing)('the documented permissions', () => {
  it('in Redis are those that two hubs use', async () => {
    const file = fileOf('redis-users.acl');
    const redis = await startRedis(['--aclfile', file]);
    cleanups.push(redis.stop);
    await redisCommand(redis.url, 'CONFIG', 'RESETSTAT');
    let elapsed = 0;
    const hubs = await Promise.all(
      [1, 2].map(async () => {
        const connection = await connectRedis(redis.url.replace('//', `//${login}`).concat('/1'));
        cleanups.push(connection.close);
        await connection.ready();
        const options = { limits: usualBudget, hubs: 2, now: () => elapsed, onCall() {} };
        const budget = new Budget(connection.runLog, options);
        const wakes = new SharedWakes(connection, systemClock);
        cleanups.push(() => wakes.close());
        return { budget, wakes, gates: redisGates(connection) };
      }),
    );
    const ids: string[] = [];
    for (const { wakes } of hubs) cleanups.push(wakes.subscribe(['run_1'], 0, ({ id }) => ids.push(id)));
    for (const { budget, wakes } of hubs) {
      for (const line of ['create', 'read', 'safety', 'safety'] as const) await budget.reserve(line, 0);
      await budget.reduce(1000);
      wakes.announce(['run_1']);
      elapsed += 70_000;
      await budget.refresh();
    }
    for (const { gates } of hubs) {
      expect(await gates.now()).toBeGreaterThan(0);
      expect(await gates.replace('1', '', '{}', 'sealed')).toBe(true);
      expect([await gates.entries(), await gates.get('1')]).toEqual([['{}'], ['{}', 'sealed']]);
      expect(await gates.replace('1', '{}', '', '')).toBe(true);
    }
    await until(() => ids.length > 1);

    expect(await redisCommand(redis.url, 'ACL', 'LOG')).toEqual([]);
    expect((await commandsIn(redis.url)).filter((name) => name !== 'acl|log')).toEqual(permissions(file));
  });

  const sentinelFile = fileOf('sentinel-users.acl');

  /** Connects through a Sentinel with a file of users. */
  async function connectVia(file: string) {
    const redis = await startRedis();
    const sentinel = await startSentinel('main', redis.port, [`aclfile ${file}`]);
    const [name, password] = login.slice(0, -1).split(':');
    const query = `sentinelUsername=${name}&sentinelPassword=${password}`;
    const reasons: string[] = [];
    const onError = (error: unknown) => reasons.push((error as Error).message);
    const url = `redis-sentinel://127.0.0.1:${sentinel.port}?${query}#main`;
    const connection = await connectRedis(url, { onError });
    cleanups.push(redis.stop, sentinel.stop, connection.close);
    return { sentinel, connection, reasons };
  }

  it.each(permissions(sentinelFile))('of a Sentinel are used: %s', async (permission) => {
    const directory = mkdtempSync(join(tmpdir(), 'rungate-users-'));
    cleanups.push(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'users.acl');
    writeFileSync(file, readFileSync(sentinelFile, 'utf8').replace(` +${permission}`, ''));
    const { sentinel } = await connectVia(file);
    const refused = async () => (await redisCommand(sentinel.url, 'ACL', 'LOG')) as unknown[];
    await until(async () => (await refused()).length > 0);
    expect(JSON.stringify(await refused())).toContain(permission);
  });
});
