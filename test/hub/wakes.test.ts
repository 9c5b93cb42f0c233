import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { connectRedis, type HubRedis } from '../../src/hub/redis.ts';
import {
  memoryWakes,
  mostRemembered,
  redisWakes,
  rememberedMs,
  type Wake,
  type WakeCommands,
  type WakeStore,
} from '../../src/hub/wakes.ts';
import { until } from '../until.ts';
import { isRedisMissing, startRedis, type TestRedis } from './redis.ts';

let redis: TestRedis;
let admin: ReturnType<typeof createClient>;
const connections: HubRedis[] = [];
const ends: (() => void)[] = [];

beforeAll(async () => {
  if (isRedisMissing) return;
  redis = await startRedis(['--databases', '100']);
  admin = createClient({ url: redis.url });
  await admin.connect();
});

/** Each test has its own database. */
let database = 0;
beforeEach(async () => {
  database += 1;
  await admin?.select(database);
});

afterEach(() => {
  for (const end of ends.splice(0)) end();
  for (const connection of connections.splice(0)) connection.close();
});

afterAll(async () => {
  admin?.destroy();
  await redis?.stop();
});

async function overRedis(change: (commands: WakeCommands) => WakeCommands = (commands) => commands) {
  const connection = await connectRedis(`${redis.url}/${database}`);
  connections.push(connection);
  await connection.ready();
  return redisWakes(change(connection.wakes), systemClock);
}

interface Engine {
  store: WakeStore;
  /** Makes the remembered ids older. */
  age(ms: number): Promise<void>;
}

const named = '{rungate:hub:1}:named';

const engines: Record<string, () => Promise<Engine>> = {
  async memory() {
    let skew = 0;
    return {
      store: memoryWakes(() => Date.now() + skew),
      async age(ms) {
        skew += ms;
      },
    };
  },
  async Redis() {
    return {
      store: await overRedis(),
      async age(ms) {
        for (const { value, score } of await admin.zRangeWithScores(named, 0, -1))
          await admin.zAdd(named, { value, score: score - ms });
      },
    };
  },
};

const testedEngines = Object.entries(engines).filter(([name]) => name === 'memory' || !isRedisMissing);

/** Listens, and returns the wake-ups so far. */
async function listening(store: WakeStore): Promise<Wake[]> {
  const wakes: Wake[] = [];
  ends.push(store.listen((wake) => wakes.push(wake)));
  // A listener in Redis begins with the time of its first request.
  await until(async () => {
    await store.announce(['begin']);
    return wakes.length > 0;
  });
  await until(() => wakes.some(({ id }) => id === 'begin'));
  return wakes;
}

const idsOf = (wakes: readonly Wake[]) => wakes.map(({ id }) => id).toSorted();

describe.each(testedEngines)('wake-ups in %s', (_name, start) => {
  it('reach those who listen, each once and in order', async () => {
    const { store } = await start();
    const wakes = await listening(store);
    await store.announce(['run_1', 'run_2']);
    await store.announce(['run_3']);
    await until(() => wakes.some(({ id }) => id === 'run_3'));
    expect(wakes.map(({ id }) => id).filter((id) => id !== 'begin')).toEqual(['run_1', 'run_2', 'run_3']);
    for (const { at } of wakes) expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
  });

  it('no longer reach those who have stopped listening', async () => {
    const { store } = await start();
    const wakes = await listening(store);
    const others = await listening(store);
    ends.at(-2)?.();
    const before = wakes.length;
    await store.announce(['run_1']);
    await until(() => others.some(({ id }) => id === 'run_1'));
    expect(wakes.length).toBe(before);
  });

  it('are remembered for a day, and for the requested ids', async () => {
    const { store, age } = await start();
    await store.announce(['run_1', 'run_2', 'run_3']);
    expect(idsOf(await store.namedSince(['run_1', 'run_3', 'other'], 0))).toEqual(['run_1', 'run_3']);
    await age(rememberedMs - 60_000);
    expect(idsOf(await store.namedSince(['run_1'], 0))).toEqual(['run_1']);
    await age(120_000);
    expect(await store.namedSince(['run_1'], 0)).toEqual([]);
    await store.announce(['run_2']);
    expect(idsOf(await store.namedSince(['run_1', 'run_2'], 0))).toEqual(['run_2']);
  });

  it('are those since a time, at their last naming', async () => {
    const { store, age } = await start();
    await store.announce(['run_1', 'run_2']);
    await age(5000);
    await store.announce(['run_2']);
    const [first] = await store.namedSince(['run_2'], 0);
    const { at } = first as Wake;
    expect(idsOf(await store.namedSince(['run_1', 'run_2'], at))).toEqual(['run_2']);
    expect(await store.namedSince(['run_1', 'run_2'], at + 1)).toEqual([]);
    expect(idsOf(await store.namedSince(['run_1', 'run_2'], 0))).toEqual(['run_1', 'run_2']);
  });

  it('forget the oldest ids beyond a hundred thousand', async () => {
    const { store, age } = await start();
    await store.announce(['oldest']);
    await age(1000);
    const ids = Array.from({ length: mostRemembered }, (_, at) => `run_${at}`);
    for (let at = 0; at < ids.length; at += 2000) await store.announce(ids.slice(at, at + 2000));
    expect(await store.namedSince(['oldest'], 0)).toEqual([]);
    expect(idsOf(await store.namedSince(['run_0', `run_${mostRemembered - 1}`], 0))).toHaveLength(2);
  });

  it('may be none', async () => {
    const { store } = await start();
    await store.announce([]);
    expect(await store.namedSince([], 0)).toEqual([]);
  });
});

describe.skipIf(isRedisMissing)('wake-ups in Redis', () => {
  it('reach every hub, also over a lost connection', async () => {
    const [one, other] = [await overRedis(), await overRedis()];
    const wakes = await listening(other);
    await one.announce(['run_1']);
    await until(() => wakes.some(({ id }) => id === 'run_1'));
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    await until(() =>
      one.announce(['run_2']).then(
        () => true,
        () => false,
      ),
    );
    await until(() => wakes.some(({ id }) => id === 'run_2'));
  });

  it('reach a hub that starts to listen just after they were announced', async () => {
    const store = await overRedis();
    await store.announce(['run_1']);
    const wakes: Wake[] = [];
    ends.push((await overRedis()).listen((wake) => wakes.push(wake)));
    await until(() => wakes.some(({ id }) => id === 'run_1'));
  });

  it('reach a hub after Redis was replaced by an empty one whose clock is behind', async () => {
    let aheadMs = 60 * 60_000;
    const [one, other] = [
      await overRedis(),
      await overRedis((commands) => ({ ...commands, time: async () => (await commands.time()) + aheadMs })),
    ];
    const wakes: Wake[] = [];
    ends.push(other.listen((wake) => wakes.push(wake)));
    await until(async () => (await admin.clientList()).some(({ cmd }) => cmd.startsWith('xread')));
    aheadMs = 0;
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    await until(() =>
      one.announce(['run_1']).then(
        () => true,
        () => false,
      ),
    );
    await until(() => wakes.some(({ id }) => id === 'run_1'));
  });

  it('keep a bounded stream that expires', async () => {
    const store = await overRedis();
    const stream = '{rungate:hub:1}:wakes';
    const fill = "for i = 1, 3000 do redis.call('XADD', KEYS[1], '*', 'at', '0', 'ids', '[]') end";
    await admin.eval(fill, { keys: [stream] });
    await store.announce(['run_1']);
    expect(await admin.xLen(stream)).toBeLessThan(2_200);
    expect(await admin.pTTL(stream)).toBeGreaterThan(0);
    expect(await admin.pTTL(named)).toBeGreaterThan(0);
  });
});

it.skipIf(isRedisMissing)(
  'a command gets its response, which arrives while the process is blocked for over a second',
  async () => {
    let busyMs = 0;
    const proxy = createServer((socket) => {
      const server = connect(redis.port, '127.0.0.1').on('error', () => {});
      socket.on('error', () => {});
      socket.pipe(server).on('data', (response) => {
        socket.write(response);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs);
      });
    }).listen(0, '127.0.0.1');
    ends.push(() => proxy.close());
    await once(proxy, 'listening');
    const connection = await connectRedis(`redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    connections.push(connection);
    await connection.ready();
    busyMs = 1100;
    expect(await connection.wakes.time()).toBeGreaterThan(0);
  },
);
