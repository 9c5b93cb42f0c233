import { expect, it } from 'vitest';
import { failoverWakes, mostMissed } from '../../src/hub/failover-wakes.ts';
import { memoryWakes, type WakeStore } from '../../src/hub/wakes.ts';
import { turns } from '../until.ts';

const ignore = { report() {} };

/** The wake-ups of a hub whose Redis can be lost, and the ids that reached Redis. */
function hubOn(redis: { works: boolean; during?: () => unknown }) {
  const announced: string[] = [];
  const ends: (() => void)[] = [];
  const shared: WakeStore = {
    async announce(ids) {
      await redis.during?.();
      if (!redis.works) throw new Error('gone');
      announced.push(...ids);
    },
    async namedSince() {
      return [];
    },
    listen: () => () => {},
  };
  const sleepers: (() => void)[] = [];
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        sleepers.push(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  const wakes = failoverWakes(shared, memoryWakes(clock.now), ignore, clock);
  ends.push(wakes.listen(() => {}));
  return {
    wakes,
    announced,
    close: () => ends[0]?.(),
    /** Lets the waits of the hub end. */
    async pass() {
      for (const resolve of sleepers.splice(0)) resolve();
      await turns();
      return sleepers.length;
    },
  };
}

it('ids that a delivery named without Redis are announced when it is back, each once, the oldest first', async () => {
  const redis = { works: false };
  const hub = hubOn(redis);
  await hub.wakes.announce(['run_1', 'run_2']);
  await hub.wakes.announce(['run_1', 'run_3']);
  await hub.pass();
  expect(hub.announced).toEqual([]);
  redis.works = true;
  expect(await hub.pass()).toBe(0);
  expect(hub.announced).toEqual(['run_2', 'run_1', 'run_3']);
  await hub.wakes.announce(['run_4']);
  expect(hub.announced.slice(3)).toEqual(['run_4']);
});

it('the oldest of more than 10,000 ids are left out', async () => {
  const redis = { works: false };
  const hub = hubOn(redis);
  for (let at = 0; at < mostMissed + 300; at += 100)
    await hub.wakes.announce(Array.from({ length: 100 }, (_, n) => `run_${at + n}`));
  redis.works = true;
  await hub.pass();
  expect(hub.announced).toHaveLength(mostMissed);
  expect(hub.announced[0]).toBe('run_300');
});

it('an id that another delivery names while it is announced is announced again', async () => {
  const redis: { works: boolean; during?: () => unknown } = { works: false };
  const hub = hubOn(redis);
  await hub.wakes.announce(['run_1']);
  await hub.pass();
  redis.during = async () => {
    delete redis.during;
    await hub.wakes.announce(['run_1']);
    redis.works = true;
  };
  await hub.pass();
  expect(hub.announced).toEqual(['run_1', 'run_1']);
});

it('a hub that is closed announces nothing more', async () => {
  const redis = { works: false };
  const hub = hubOn(redis);
  await hub.wakes.announce(['run_1']);
  await turns();
  hub.close();
  redis.works = true;
  expect(await hub.pass()).toBe(0);
  expect(hub.announced).toEqual([]);
});
