import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import {
  type DetachedGate,
  decideMs,
  keptMs,
  leaseMs,
  mostRepeats,
  registered,
  repeatMs,
} from '../../src/gate/detached/entry.ts';
import {
  detachedPaths,
  longestSealed,
  type RegisterRequest,
  type SaveRequest,
} from '../../src/gate/detached/protocol.ts';
import { deliveryReceiver } from '../../src/hub/deliveries.ts';
import { mostGates, type StartJob } from '../../src/hub/detached.ts';
import type { HubLogEvent } from '../../src/hub/http.ts';
import { type Hub, memoryHub, redisHub } from '../../src/hub/hub.ts';
import { usualBudget } from '../../src/hub/ledger.ts';
import { type HubState, serveHub } from '../../src/hub/server.ts';
import { defaultHeaderNames } from '../../src/webhook/headers.ts';
import { signSync } from '../../src/webhook/node.ts';
import { turns, until } from '../until.ts';
import { isRedisMissing, redisCommand, startRedis, type TestRedis } from './redis.ts';

const secret = 'whsec_of_the_test';
const token = 'token-of-the-gates';
const minute = 60_000;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The clock of a test, ahead of that of this machine. */
interface Time extends Clock {
  ahead: number;
}

function testTime(ahead = 0): Time {
  const time: Time = { ...systemClock, ahead, now: () => Date.now() + time.ahead };
  return time;
}

let redis: TestRedis | undefined;
beforeAll(async () => {
  if (!isRedisMissing) redis = await startRedis();
});
afterAll(() => redis?.stop());

type Kind = 'memory' | 'Redis';
const kinds: readonly Kind[] = isRedisMissing ? ['memory'] : ['memory', 'Redis'];

/** Returns the parts of a hub. @param prefix hubs with the same one share their gates */
async function partsOf(kind: Kind, time: Time, prefix = crypto.randomUUID()): Promise<Hub> {
  if (kind === 'memory') return memoryHub(usualBudget, time, true);
  const options = { limits: usualBudget, hubs: 2, prefix, onCall() {} };
  const hub = await redisHub(redis?.url ?? '', time, options);
  cleanups.push(() => hub.close());
  await hub.ready();
  const { gates } = hub;
  return { ...hub, gates: { ...gates, now: async () => (await gates.now()) + time.ahead } };
}

const receive = deliveryReceiver(
  { secrets: [secret], tenantSecret: undefined, headerNames: defaultHeaderNames },
  systemClock.now,
);

/** Serves a hub. @param start starts the job of a gate; null if the hub cannot */
async function serve(hub: Hub, time: Time, start: StartJob | null = async () => {}) {
  const log: HubLogEvent[] = [];
  const jobs: string[] = [];
  const beats = new Map<number, () => unknown>();
  let state: HubState | undefined;
  const startJob: StartJob = async (gate) => {
    jobs.push(gate.id);
    await start?.(gate);
  };
  const server = await serveHub('127.0.0.1', 0, {
    hub,
    clock: time,
    every(ms, beat) {
      beats.set(ms, beat);
      return () => beats.delete(ms);
    },
    tokens: [token],
    receive,
    startJob: start === null ? null : startJob,
    redis: () => null,
    async metrics(shown) {
      state = shown;
      return { type: 'text/plain', text: '' };
    },
    log: (event) => log.push(event),
  });
  const close = () => server.close(0);
  cleanups.push(close);
  const post = (path: string, body: object, bearer = token) =>
    fetch(server.url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { Authorization: `Bearer ${bearer}` },
    });
  return {
    jobs,
    close,
    post,
    logged: (type: HubLogEvent['type']) => log.filter((event) => event.type === type),
    /** Sends a request to one of the paths. Returns the status code and the body. */
    async ask(path: keyof typeof detachedPaths, body: object): Promise<[status: number, json: unknown]> {
      const response = await post(detachedPaths[path], body);
      const text = await response.text();
      return [response.status, text === '' ? null : JSON.parse(text)];
    },
    async deliver(json: unknown): Promise<void> {
      const body = JSON.stringify(json);
      const { timestamp, signature } = signSync({ body, secret });
      const names = defaultHeaderNames;
      const headers = { [names.timestamp]: timestamp, [names.signature]: signature };
      const { status } = await fetch(`${server.url}/deliveries`, { method: 'POST', body, headers });
      expect(status).toBe(204);
    },
    /** Lets time pass, and then lets the hub start what is due. */
    async sweep(ms = 0): Promise<readonly string[]> {
      time.ahead += ms;
      await beats.get(2_000)?.();
      return jobs.splice(0);
    },
    async open(): Promise<number | undefined> {
      await fetch(`${server.url}/metrics`);
      return state?.detached;
    },
  };
}

const idOf = (number: number) => number.toString(16).padStart(16, '0');
const [one, two] = [idOf(1), idOf(2)];
const [first, second] = ['job-of-the-first-gate', 'job-of-the-second-gate'];
const names = { id: one, repository: 'acme/shop', commit: 'c0ffee1', context: 'rungate: shop / checkout' };
const timeout = 60 * minute;

function registration(own: Partial<RegisterRequest> = {}): RegisterRequest {
  return {
    ...names,
    ref: 'main',
    pull: '7',
    sealed: 'c2VhbGVk',
    runs: [],
    endsInMs: timeout,
    job: first,
    ...own,
  };
}

/** The request of a job that leaves the gate to the hub. */
function handover(own: Partial<SaveRequest> = {}): SaveRequest {
  const { id, job, runs, sealed, endsInMs } = registration({ runs: ['run_79e0'], sealed: 'bGF0ZXI' });
  return { id, job, runs, sealed, endsInMs, done: false, released: true, ...own };
}

const refused = (reason: string) => [reason === 'unknown' ? 404 : 409, { reason, error: expect.any(String) }];
const nothing = [204, null];

describe.each(kinds)('detached gates in %s', (kind) => {
  /** Starts a hub with one gate, which no job goes on with. */
  async function withGate(start?: StartJob | null, own: Partial<SaveRequest> = {}) {
    const time = testTime();
    const parts = await partsOf(kind, time);
    const hub = await serve(parts, time, start);
    expect(await hub.ask('register', registration())).toMatchObject([200, { replaced: [] }]);
    expect(await hub.ask('save', handover(own))).toEqual(nothing);
    return { ...hub, parts, time };
  }

  it('start a job when a delivery names a run, which alone decides', async () => {
    const hub = await withGate();
    expect([await hub.sweep(), await hub.open()]).toEqual([[], 1]);
    await hub.deliver({ id: 'run_other' });
    expect(await hub.sweep()).toEqual([]);
    await hub.deliver({ id: 'run_79e0' });
    expect([await hub.sweep(), await hub.sweep()]).toEqual([[one], []]);
    expect(await hub.ask('list', { repository: 'acme/shop' })).toEqual([200, { ids: [one] }]);

    const held = { id: one, job: second };
    expect(await hub.ask('fetch', held)).toEqual([200, { ...names, overdue: false, sealed: 'bGF0ZXI' }]);
    expect(await hub.ask('fetch', { id: one, job: 'job-of-someone-else' })).toEqual(refused('leased'));
    expect(await hub.ask('decide', { id: one, job: first })).toEqual(refused('leased'));
    expect(await hub.ask('save', handover())).toEqual(refused('leased'));
    expect(await hub.ask('list', { repository: 'acme/shop' })).toEqual([200, { ids: [] }]);
    expect(await hub.ask('decide', held)).toEqual([200, { older: [] }]);
    expect(await hub.ask('save', handover({ job: second, done: true }))).toEqual(nothing);
    expect([await hub.sweep(2 * timeout), await hub.open()]).toEqual([[], 0]);
    expect(hub.logged('gate-kept')).toEqual([
      { type: 'gate-kept', id: one, repository: 'acme/shop', startsJobs: true },
    ]);
    await hub.sweep(keptMs);
    expect(await hub.ask('fetch', held)).toEqual(refused('unknown'));
    const types = ['job-started', 'gate-done', 'gate-forgotten'] as const;
    expect(types.map((type) => hub.logged(type).length)).toEqual([1, 1, 0]);
  });

  it('start no job for a delivery before the hand-over, and one for the next', async () => {
    const hub = await withGate();
    await hub.deliver({ id: 'run_79e0' });
    await hub.sweep();
    expect((await hub.ask('fetch', { id: one, job: second }))[0]).toBe(200);
    hub.time.ahead += minute;
    expect(await hub.ask('save', handover({ job: second, endsInMs: timeout }))).toEqual(nothing);
    expect(await hub.sweep()).toEqual([]);
    await hub.deliver({ id: 'run_79e0', again: true });
    expect(await hub.sweep()).toEqual([one]);
  });

  it('start a job again that has not come, and at the timeout in any case', async () => {
    const hub = await withGate();
    await hub.deliver({ id: 'run_79e0' });
    expect(await hub.sweep()).toEqual([one]);
    for (let count = 0; count < mostRepeats; count += 1)
      expect([await hub.sweep(repeatMs - minute), await hub.sweep(minute)]).toEqual([[], [one]]);
    expect(await hub.sweep(repeatMs)).toEqual([]);
    expect(await hub.sweep(timeout - (mostRepeats + 1) * repeatMs)).toEqual([one]);
  });

  it('start a job at the timeout without any delivery, and are forgotten a day later', async () => {
    const hub = await withGate();
    expect([await hub.sweep(timeout - minute), await hub.sweep(minute)]).toEqual([[], [one]]);
    await hub.sweep(keptMs - minute);
    expect(hub.logged('gate-forgotten')).toEqual([]);
    expect(await hub.sweep(minute)).toEqual([]);
    expect(hub.logged('gate-forgotten')).toEqual([
      { type: 'gate-forgotten', id: one, repository: 'acme/shop' },
    ]);
    expect(await hub.ask('fetch', { id: one, job: second })).toEqual(refused('unknown'));
    expect(await hub.open()).toBe(0);
  });

  it('start a job again after a start that failed: after 1 minute, then 2', async () => {
    let fails = true;
    const hub = await withGate(async () => {
      if (fails) throw new Error('status code 502');
    });
    await hub.deliver({ id: 'run_79e0' });
    expect([await hub.sweep(), await hub.sweep(0.9 * minute)]).toEqual([[one], []]);
    expect([await hub.sweep(0.2 * minute), await hub.sweep(1.9 * minute)]).toEqual([[one], []]);
    fails = false;
    expect([await hub.sweep(0.2 * minute), await hub.sweep(9 * minute)]).toEqual([[one], []]);
    expect(hub.logged('start-failed')).toHaveLength(2);
    expect(hub.logged('start-failed')[0]).toMatchObject({ id: one, error: new Error('status code 502') });
    expect(hub.logged('job-started')).toHaveLength(1);
  });

  it('start at most two jobs in one sweep, the oldest first', async () => {
    const hub = await withGate();
    const ids = [1, 2, 3, 4, 5].map(idOf);
    for (const id of ids.slice(1)) {
      const context = `rungate: ${id}`;
      await hub.ask('register', registration({ id, context }));
      await hub.ask('save', handover({ id, endsInMs: timeout + Number.parseInt(id, 16) * 1000 }));
    }
    const started = [await hub.sweep(2 * timeout), await hub.sweep(), await hub.sweep(), await hub.sweep()];
    expect(started.map((each) => each.toSorted())).toEqual([ids.slice(0, 2), ids.slice(2, 4), [idOf(5)], []]);
  });

  it('are only kept by a hub that cannot start jobs', async () => {
    const hub = await withGate(null);
    const kept = { startsJobs: false, replaced: [] };
    expect(await hub.ask('register', registration({ id: two, context: 'other' }))).toEqual([200, kept]);
    await hub.deliver({ id: 'run_79e0' });
    expect(await hub.sweep(2 * timeout)).toEqual([]);
    expect(await hub.ask('list', { repository: 'acme/shop' })).toEqual([200, { ids: [one, two] }]);
    expect(await hub.ask('list', { repository: 'acme/other' })).toEqual([200, { ids: [] }]);
  });

  it('go on with another job once the lease has expired', async () => {
    const hub = await withGate();
    expect((await hub.ask('fetch', { id: one, job: first }))[0]).toBe(200);
    hub.time.ahead += leaseMs - minute;
    expect(await hub.ask('fetch', { id: one, job: second })).toEqual(refused('leased'));
    hub.time.ahead += minute;
    expect((await hub.ask('fetch', { id: one, job: second }))[0]).toBe(200);
    expect(await hub.ask('save', handover({ sealed: 'bGF0ZQ' }))).toEqual(refused('leased'));
    expect(await hub.ask('fetch', { id: one, job: second })).toMatchObject([200, { sealed: 'bGF0ZXI' }]);
  });

  it('are replaced by a newer one, which gets the state of each', async () => {
    const hub = await withGate();
    const newer = registration({ id: two, commit: 'c0ffee2', job: second });
    const old = { ...names, sealed: 'bGF0ZXI' };
    for (const _ of ['once', 'again'])
      expect(await hub.ask('register', newer)).toEqual([200, { startsJobs: true, replaced: [old] }]);
    expect(hub.logged('gate-replaced')).toEqual([{ type: 'gate-replaced', id: one, by: two }]);
    for (const path of ['fetch', 'decide'] as const)
      expect(await hub.ask(path, { id: one, job: first })).toEqual(refused('replaced'));
    expect(await hub.ask('save', handover())).toEqual(refused('replaced'));
    expect(await hub.ask('register', registration())).toEqual(refused('replaced'));
    await hub.deliver({ id: 'run_79e0' });
    expect([await hub.sweep(), await hub.open()]).toEqual([[], 1]);
  });

  it('are not replaced while their job may be setting the commit status', async () => {
    const hub = await withGate();
    await hub.ask('fetch', { id: one, job: first });
    expect(await hub.ask('decide', { id: one, job: first })).toEqual([200, { older: [] }]);
    const newer = registration({ id: two, job: second });
    const entry = JSON.parse((await hub.parts.gates.get(one))[0]) as DetachedGate;
    for (const [leftMs, retryAfter] of [
      [decideMs, /^20$/],
      [15_000, /^1[0-5]$/],
    ] as const) {
      hub.time.ahead = entry.decidesUntil - leftMs - Date.now();
      const response = await hub.post(detachedPaths.register, newer);
      expect([response.status, response.headers.get('retry-after')]).toEqual([
        503,
        expect.stringMatching(retryAfter),
      ]);
    }
    hub.time.ahead += 15_000;
    expect(await hub.ask('register', newer)).toMatchObject([200, { replaced: [{ id: one }] }]);
  });

  it('that were decided meanwhile are not replaced', async () => {
    const hub = await withGate();
    await hub.ask('fetch', { id: one, job: first });
    await hub.ask('decide', { id: one, job: first });
    expect((await hub.ask('register', registration({ id: two, job: second })))[0]).toBe(503);
    await hub.ask('save', handover({ done: true }));
    expect(await hub.ask('register', registration({ id: two, job: second }))).toEqual([
      200,
      { startsJobs: true, replaced: [] },
    ]);
  });

  it('leave one, if several of one pull request come at the same time', async () => {
    const time = testTime();
    const hub = await serve(await partsOf(kind, time), time);
    const ids = [1, 2, 3, 4, 5].map(idOf);
    const responses = await Promise.all(ids.map((id) => hub.ask('register', registration({ id }))));
    expect(responses.filter(([status]) => status !== 200 && status !== 409)).toEqual([]);
    await hub.sweep(leaseMs);
    expect(await hub.open()).toBe(1);
    const [, list] = await hub.ask('list', { repository: 'acme/shop' });
    const [last] = (list as { ids: string[] }).ids;
    expect(responses[ids.indexOf(String(last))]?.[0]).toBe(200);
  });

  it('are refused if a newer one was kept before them', async () => {
    const time = testTime();
    const hub = await serve(await partsOf(kind, time), time);
    await hub.ask('register', registration({ id: two, job: second }));
    // This one has read the time before the other one.
    time.ahead -= minute;
    for (const _ of ['once', 'again'])
      expect(await hub.ask('register', registration())).toEqual(refused('replaced'));
    expect(await hub.ask('fetch', { id: one, job: first })).toEqual(refused('replaced'));
    expect(await hub.ask('decide', { id: two, job: second })).toEqual([200, { older: [one] }]);
  });

  it('that are decided while a newer one is registered are not replaced', async () => {
    const time = testTime();
    const parts = await partsOf(kind, time);
    const entries = async () => {
      const found = await parts.gates.entries();
      if (found.some((entry) => entry.includes(two))) await decideFirst();
      return found;
    };
    const hub = await serve({ ...parts, gates: { ...parts.gates, entries } }, time);
    await hub.ask('register', registration());
    const decideFirst = () => hub.ask('save', handover({ done: true, released: false }));
    expect(await hub.ask('register', registration({ id: two, job: second }))).toEqual([
      200,
      { startsJobs: true, replaced: [] },
    ]);
    expect(hub.logged('gate-replaced')).toEqual([]);
  });

  it('are kept as they were handed over first', async () => {
    const hub = await withGate();
    expect(await hub.ask('save', handover({ sealed: 'b3RoZXI' }))).toEqual(nothing);
    expect(await hub.ask('fetch', { id: one, job: second })).toMatchObject([200, { sealed: 'bGF0ZXI' }]);
  });

  it('go on with one of several jobs that come at the same time', async () => {
    const hub = await withGate();
    const jobs = [1, 2, 3, 4, 5].map((number) => `job-number-${number}-of-five`);
    const statuses = await Promise.all(
      jobs.map(async (job) => (await hub.ask('fetch', { id: one, job }))[0]),
    );
    expect(statuses.toSorted()).toEqual([200, 409, 409, 409, 409]);
  });

  it('change only if nobody else has changed them', async () => {
    const { gates } = await partsOf(kind, testTime());
    expect(await gates.replace('1', 'a', 'b', 'x')).toBe(false);
    expect(await gates.replace('1', '', 'a', 'x')).toBe(true);
    for (const before of ['', 'b']) expect(await gates.replace('1', before, 'c', 'y')).toBe(false);
    expect(await gates.replace('1', 'b', '', '')).toBe(false);
    expect([await gates.get('1'), await gates.get('2')]).toEqual([
      ['a', 'x'],
      ['', ''],
    ]);
    expect(await gates.replace('1', 'a', 'b', '')).toBe(true);
    expect([await gates.get('1'), await gates.entries()]).toEqual([['b', 'x'], ['b']]);
    expect(await gates.replace('1', 'b', '', '')).toBe(true);
    expect([await gates.get('1'), await gates.entries()]).toEqual([['', ''], []]);
  });

  it('cannot be taken over with their id', async () => {
    const hub = await withGate();
    await hub.ask('fetch', { id: one, job: first });
    expect(await hub.ask('register', registration({ job: second }))).toEqual(refused('leased'));
    for (const path of ['fetch', 'decide'] as const)
      expect(await hub.ask(path, { id: two, job: second })).toEqual(refused('unknown'));
  });

  it('are at most 2,000, of which those that are decided make room', async () => {
    const time = testTime();
    const parts = await partsOf(kind, time);
    const hub = await serve(parts, time);
    const now = await parts.gates.now();
    const put = (number: number, done: boolean) => {
      const own = registration({ id: idOf(number + 1000), context: `rungate: ${number}` });
      const gate = { ...registered(own, own, first, now - number), done };
      return parts.gates.replace(gate.id, '', JSON.stringify(gate), 'c2VhbGVk');
    };
    for (let number = 0; number < mostGates; number += 1) await put(number, number === 7);
    expect((await hub.ask('register', registration({ id: one })))[0]).toBe(200);
    expect(await hub.ask('register', registration({ id: two, context: 'other' }))).toEqual([
      507,
      { error: 'the hub has 2000 open gates' },
    ]);
    expect(await hub.ask('fetch', { id: idOf(1007), job: first })).toEqual(refused('unknown'));
  });

  it('have their jobs started before the hub has stopped', async () => {
    let end = () => {};
    const hub = await withGate(() => new Promise<void>((resolve) => (end = resolve)));
    await hub.deliver({ id: 'run_79e0' });
    void hub.sweep();
    await until(() => hub.jobs.length === 1);
    const closed = hub.close();
    await turns();
    end();
    await closed;
    expect(hub.logged('job-started')).toHaveLength(1);
  });
});

describe.skipIf(isRedisMissing)('hubs on one Redis', () => {
  it('start one job, whichever hears of the run, and lease by one clock', async () => {
    const prefix = crypto.randomUUID();
    const [time, other] = [testTime(), testTime()];
    const hub = await serve(await partsOf('Redis', time, prefix), time);
    // The clock of this hub's machine is an hour ahead; that of Redis holds.
    const parts = await partsOf('Redis', { ...other, now: () => Date.now() + timeout }, prefix);
    const late = await serve(parts, other);
    await hub.ask('register', registration());
    expect(await late.ask('fetch', { id: one, job: second })).toEqual(refused('leased'));
    await hub.ask('save', handover());
    await hub.deliver({ id: 'run_79e0' });
    await until(() => parts.wakes.lastNamed('run_79e0') !== null);
    const started = await Promise.all([hub.sweep(), late.sweep(), hub.sweep(), late.sweep()]);
    expect(started.flat()).toEqual([one]);
    expect(hub.logged('job-started').length + late.logged('job-started').length).toBe(1);
  });

  it('keep gates and deliveries when all are restarted', async () => {
    const prefix = crypto.randomUUID();
    const time = testTime();
    const parts = await partsOf('Redis', time, prefix);
    const before = await serve(parts, time);
    await before.ask('register', registration());
    await before.ask('save', handover());
    await before.deliver({ id: 'run_79e0' });
    await before.close();
    await parts.close();
    const after = await serve(await partsOf('Redis', time, prefix), time);
    await until(async () => (await after.sweep()).length === 1);
    expect(await after.ask('fetch', { id: one, job: second })).toEqual([
      200,
      { ...names, overdue: false, sealed: 'bGF0ZXI' },
    ]);
  });

  it('refuse everything while it is away, and go on when it is back', async () => {
    const own = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    cleanups.push(own.stop);
    const hub = await redisHub(own.url, systemClock, { limits: usualBudget, hubs: 2, onCall() {} });
    cleanups.push(() => hub.close());
    await hub.ready();
    const time = testTime();
    const { ask, sweep, logged } = await serve(hub, time);
    expect((await ask('register', registration()))[0]).toBe(200);
    await own.kill();
    const held = { id: one, job: first };
    for (const [path, body] of [
      ['register', registration({ id: two, context: 'other' })],
      ['save', handover()],
      ['fetch', held],
      ['decide', held],
      ['list', names],
    ] as const)
      expect((await ask(path, body))[0]).toBe(503);
    await sweep();
    expect(logged('fault')).toEqual([]);
    await own.restart();
    await until(async () => (await ask('fetch', held))[0] === 200);
    expect((await ask('fetch', { id: two, job: first }))[0]).toBe(404);
    // Another user of Redis than the documented one.
    await redisCommand(own.url, 'ACL', 'SETUSER', 'default', '-hvals');
    await sweep();
    expect(logged('fault')).toMatchObject([{ error: { message: expect.stringMatching(/^NOPERM.*hvals/) } }]);
  });
});

describe('a request about a detached gate', () => {
  it.each(Object.entries(detachedPaths))('needs a token: %s', async (_, path) => {
    const time = testTime();
    const { post } = await serve(memoryHub(usualBudget, time), time);
    expect((await post(path, registration(), 'wrong')).status).toBe(401);
  });

  const long = (length: number) => 'x'.repeat(length);
  it.each<[name: keyof RegisterRequest, right: readonly unknown[], wrong: readonly unknown[]]>([
    ['id', ['0123456789abcdef'], ['', '0123456789ABCDEF', `${one}0`, 'x', 1, null, `${one}\n`]],
    ['job', [long(16), long(64)], [long(15), long(65), 'job of the first gate', null]],
    [
      'repository',
      ['acme/shop', 'Acme-1/.github', 'acme_corp/a.b-c_d', 'acme/...'],
      ['shop', 'acme/shop/x', 'acme/..', 'acme/.', '../shop', 'acme/', '/shop', 'a b/c', 'acme/shop?', null],
    ],
    ['commit', ['c0ffee1', '0'.repeat(64)], ['c0ffee', '0'.repeat(65), 'C0FFEE1', 'main', null]],
    ['context', ['rungate: shop / checkout', 'é', long(255)], ['', long(256), 'a\nb', 'a\u0085', null]],
    [
      'ref',
      ['main', 'feature/a.b-c', 'release-1.x', 'ü', 'a@b'],
      [
        '',
        '/main',
        'main/',
        '-main',
        'a..b',
        'a b',
        'a~b',
        'a:b',
        'a\\b',
        'a.lock',
        'a/.b',
        'a@{b',
        'a//b',
        'a.',
      ],
    ],
    ['pull', ['7', null], ['', '#7', '7 ', 7]],
    ['sealed', ['A-_z09', long(longestSealed)], ['', 'a=', 'a+b', long(longestSealed + 1), null]],
    ['runs', [[], ['run_1', '17', long(200)]], [['a b'], [''], [long(201)], [1], Array(101).fill('r'), null]],
    ['endsInMs', [0, -1, 7 * 24 * 60 * minute], [7 * 24 * 60 * minute + 1, '1', null]],
  ])('has status code 400 with a wrong %s', async (name, right, wrong) => {
    const time = testTime();
    const { ask } = await serve(memoryHub(usualBudget, time), time);
    for (const value of [...wrong, undefined])
      expect(await ask('register', { ...registration(), [name]: value }), JSON.stringify(value)).toEqual([
        400,
        { error: expect.stringMatching(new RegExp(`^${name}\\b.* is missing or invalid$`)) },
      ]);
    for (const value of right) {
      const { ask } = await serve(memoryHub(usualBudget, time), time);
      expect((await ask('register', { ...registration(), [name]: value }))[0], JSON.stringify(value)).toBe(
        200,
      );
    }
  });

  it.each([
    ...[undefined, '', null].map((released) => ['save', { ...handover(), released }] as const),
    ...[undefined, 0, null].map((done) => ['save', { ...handover(), done }] as const),
    ['save', { ...handover(), id: 'x' }],
    ['fetch', { id: one }],
    ['decide', { id: one, job: '' }],
    ['list', {}],
  ] as const)('to %s has status code 400 with %j', async (path, body) => {
    const time = testTime();
    const { ask } = await serve(memoryHub(usualBudget, time), time);
    expect((await ask(path, body))[0]).toBe(400);
  });
});
