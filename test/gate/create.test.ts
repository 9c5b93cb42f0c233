import { describe, expect, it } from 'vitest';
import { createCaller } from '../../src/client/caller.ts';
import { type HttpError, NetworkError, type NetworkFault, RungateError } from '../../src/errors.ts';
import { createRun } from '../../src/gate/create.ts';
import type { GateEvent } from '../../src/gate/events.ts';
import { newBudget } from '../../src/gate/fleet/turns.ts';
import { runService } from '../../src/gate/service.ts';
import { networkError } from '../../src/transport/network-error.ts';
import type { PreparedRequest, RawReply, SendOptions } from '../../src/transport/transport.ts';
import { type VirtualTime, virtualTime } from '../virtual-time.ts';
import { createHubLink, type FakeHub, fakeHub } from './fleet/fake-hub.ts';
import { mostInAMinute } from './plan/world.ts';

const [second, minute] = [1000, 60_000];

/** Plays one request at a time since the first one; `limitMs` is its time limit. */
type Course = (at: number, limitMs: number, number: number) => RawReply | Error | 'stalled';

const json = (status: number, body: unknown, headers: Record<string, string> = {}): RawReply => ({
  status,
  text: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
});
const created = json(201, { runId: 'run_1' });
const status = (code: number, headers?: Record<string, string>) => json(code, { error: 'no' }, headers);
const broken = () => new NetworkError('broken', 'the connection broke');
const refusedAt = (address: string, host = 'service.example') =>
  networkError(
    Object.assign(new Error(`connect ECONNREFUSED ${address}:443`), { code: 'ECONNREFUSED', address }),
    new URL(`https://${host}/`),
    false,
  );

interface World {
  timeoutMs?: number;
  requestTimeoutMs?: number;
  random?: () => number;
  /** Creates that this process has sent before. */
  before?: number[];
  hub?: (time: VirtualTime) => FakeHub;
  stopAt?: number;
}

/** Creates a run while each request goes as the course says. */
async function play(course: Course, world: World = {}) {
  const { timeoutMs = 60 * minute, requestTimeoutMs, random = () => 0.5, stopAt } = world;
  const time = virtualTime();
  const { clock } = time;
  const sent: number[] = [];
  const requests = new Set<string>();
  const transport = {
    async send({ headers, body }: PreparedRequest, { signal, timeoutMs: limitMs }: SendOptions) {
      const at = clock.monotonic();
      sent.push(at);
      requests.add(JSON.stringify([headers, body]));
      const outcome = course(at, limitMs, sent.length);
      if (outcome === 'stalled') {
        await clock.sleep(limitMs, signal);
        throw new NetworkError('broken', 'no complete response');
      }
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    async close() {},
  };
  const caller = createCaller({
    ...{ apiUrl: 'https://service.example', apiKey: 'key', clock, transport, random },
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
  });
  const hub = world.hub?.(time);
  const link = hub && createHubLink(hub.client, { clock, onChange: () => {}, silenceMs: Infinity });
  await link?.watch([]);
  const stop = new AbortController();
  if (stopAt !== undefined) time.at(stopAt, () => stop.abort(new Error('stopped')));
  const events: Extract<GateEvent, { type: 'retry' }>[] = [];
  const budget = { ...newBudget(), creates: world.before ?? [] };
  let endedAt = Number.NaN;
  const settled = createRun(
    { body: { projectSlug: 'shop', processSlug: 'checkout' }, idempotencyKey: 'build-7' },
    { latest: timeoutMs, deadline: timeoutMs },
    {
      ...{ service: runService(caller, clock.now), clock, random, signal: stop.signal, hub: link },
      ...(world.before !== undefined && { budget }),
      emit: (event) => event.type === 'retry' && events.push(event),
    },
  )
    .then(
      (creation) => ({ creation, error: undefined }),
      (error: unknown) => ({ creation: undefined, error }),
    )
    .finally(() => {
      endedAt = clock.monotonic();
    });
  await time.run(24 * 60 * minute);
  link?.close();
  await caller.close();
  return { ...(await settled), sent, requests, events, endedAt, budget };
}

const untilThen =
  (ms: number, fault: () => ReturnType<Course>): Course =>
  (at) =>
    at < ms ? fault() : created;

const faults: readonly [string, () => ReturnType<Course>][] = [
  ...[408, 500, 502, 503, 504].map((code) => [`HTTP ${code}`, () => status(code)] as const),
  ['a reset', broken],
  ['no response', () => 'stalled'],
  ['half of the JSON', () => ({ ...created, text: created.text.slice(0, 9) })],
  ['a refused connection', () => refusedAt('192.0.2.1')],
  ['an unreachable network', () => new NetworkError('connect', 'no route')],
  ['a run that is still being created', () => json(409, { error: 'Request in progress' })],
].map(([name, fault]) => [name, fault] as [string, () => ReturnType<Course>]);

describe.each([12, 60, 200])('an outage of %i s that begins before the run is created', (seconds) => {
  it.each(faults)('does not fail the gate: %s', async (_name, fault) => {
    const { creation, sent, requests } = await play(untilThen(seconds * second, fault));
    expect(creation).toMatchObject({ kind: 'created', runId: 'run_1', requests: sent.length });
    expect(requests.size).toBe(1);
  });
});

describe('a request that creates no run', () => {
  it.each(faults)('is sent at most 8 times in the first minute: %s', async (_name, fault) => {
    for (const random of [() => 0, () => 0.999]) {
      const { sent } = await play(fault, { random });
      expect(sent.filter((at) => at < minute).length).toBeLessThanOrEqual(8);
    }
  });

  it('waits 1, 2, 4, 8, 16 and then 30 s, and up to half as much again', async () => {
    for (const [random, factor] of [
      [() => 0, 1],
      [() => 1, 1.5],
    ] as const) {
      const { sent } = await play(() => status(500), { random });
      const waits = sent.slice(1).map((at, index) => at - (sent[index] ?? 0));
      expect(waits.slice(0, 7)).toEqual([1, 2, 4, 8, 16, 30, 30].map((wait) => wait * factor * second));
    }
  });

  it.each([
    ['longer', '45', 45],
    ['shorter', '0', 1],
  ])(
    'waits as long as Retry-After requests, if that is %s than its own wait',
    async (_name, header, wait) => {
      const course: Course = (_at, _limit, number) =>
        number === 1 ? status(503, { 'retry-after': header }) : created;
      const { sent } = await play(course, { random: () => 0 });
      expect(sent).toEqual([0, wait * second]);
    },
  );

  it.each<[string, () => RawReply | Error]>([
    ['a response', () => status(503)],
    ['a connection', broken],
  ])('is sent again until 5 minutes after the first failure: %s', async (_name, fault) => {
    const { error, endedAt, sent } = await play(() => fault());
    expect(error).toBeInstanceOf(RungateError);
    expect((error as RungateError).hint).toMatch(
      /a run may have been created with the idempotency key build-7/,
    );
    expect((error as RungateError).facts).toMatchObject({ requests: sent.length, elapsedMs: endedAt });
    expect(endedAt).toBeGreaterThan(4 * minute);
    expect(endedAt).toBeLessThanOrEqual(5 * minute);
  });

  it('is sent again until the timeout of the gate, if that comes first', async () => {
    const { error, endedAt } = await play(() => status(503), { timeoutMs: 90 * second });
    expect(error).toMatchObject({ status: 503 });
    expect(endedAt).toBeLessThanOrEqual(90 * second);
  });

  it('does not spend the 5 minutes on one request that gets no response', async () => {
    const { sent, endedAt } = await play(() => 'stalled', { requestTimeoutMs: 60 * minute });
    expect(sent.slice(0, 2)).toEqual([0, 121.25 * second]);
    expect(endedAt).toBeLessThanOrEqual(9 * minute);
  });

  it('never begins a request after the timeout, and ends the last one at the timeout', async () => {
    const { error, sent, endedAt } = await play(() => 'stalled', { timeoutMs: 50 * second });
    expect(error).toBeInstanceOf(NetworkError);
    expect(sent).toEqual([0, 31.25 * second]);
    expect(endedAt).toBe(50 * second);
  });

  it.each([400, 401, 402, 403, 404, 409, 410, 413, 422, 501, 505, 520])(
    'is not sent again after HTTP %i',
    async (code) => {
      const { error, sent } = await play(() => status(code));
      expect(error).toMatchObject({ status: code });
      expect(sent).toHaveLength(1);
    },
  );

  it('is not sent again after a response with a status code of success and without an id', async () => {
    const { error, sent } = await play(() => json(201, { ok: true }));
    expect(error).toMatchObject({ code: 'unexpected_response' });
    expect(sent).toHaveLength(1);
  });
});

describe('a wrong address', () => {
  it.each<[string, () => Error, number]>([
    ['a name that does not resolve', () => new NetworkError('dns', 'no address'), 4],
    ['nothing that listens at 127.0.0.1', () => refusedAt('127.0.0.1'), 4],
    ['nothing that listens at ::1', () => refusedAt('::1'), 4],
    ['a refused certificate', () => new NetworkError('tls', 'not trusted'), 1],
  ])('gets at most 4 requests: %s', async (_name, fault, count) => {
    const { error, sent, endedAt } = await play(fault);
    expect(error).toBeInstanceOf(NetworkError);
    expect((error as RungateError).hint ?? '').not.toContain('build-7');
    expect(sent).toHaveLength(count);
    expect(endedAt).toBeLessThan(12 * second);
  });

  it('is not what a service has that has responded in between', async () => {
    const course: Course = (at, _limit, number) =>
      at >= 4 * minute ? created : number % 3 === 0 ? status(503) : new NetworkError('dns', 'no address');
    expect((await play(course)).creation).toMatchObject({ kind: 'created' });
  });
});

describe('the rate limit', () => {
  it('does not count towards the 5 minutes', async () => {
    const course: Course = (at) =>
      at < 20 * second
        ? status(503)
        : at < 15 * minute
          ? status(429, { 'retry-after': '30' })
          : at < 18 * minute
            ? status(500)
            : created;
    const { creation, sent } = await play(course);
    expect(creation).toMatchObject({ kind: 'created' });
    expect(sent.at(-1)).toBeGreaterThan(18 * minute);
  });

  it('is waited for until the timeout', async () => {
    const { error, endedAt } = await play(() => status(429), { timeoutMs: 30 * minute });
    expect(error).toMatchObject({ status: 429 });
    expect(endedAt).toBeGreaterThan(20 * minute);
    expect(endedAt).toBeLessThanOrEqual(30 * minute);
  });

  it('ends the creation at once if the service requests a wait past the timeout', async () => {
    const { error, sent } = await play(() => status(429, { 'retry-after': '9999' }));
    expect((error as HttpError).hint).toContain(
      'the service requests a wait of 2 h 46 min, but rungate retries for only 1 h more',
    );
    expect(sent).toHaveLength(1);
  });

  it('of the gates of one process holds for each repetition', async () => {
    const before = Array.from({ length: 19 }, (_, index) => index - 20);
    const { creation, sent, budget } = await play(
      untilThen(30 * second, () => status(500)),
      { before },
    );
    expect(creation).toMatchObject({ kind: 'created' });
    expect(mostInAMinute(budget.creates)).toBeLessThanOrEqual(20);
    expect(budget.creates.slice(19)).toEqual(sent.slice(1));
  });
});

describe('with a hub', () => {
  it('each repetition waits for a grant, and that wait does not count towards the 5 minutes', async () => {
    const grantedAt = [10 * minute, 20 * minute, 30 * minute];
    const hub = (time: VirtualTime) =>
      fakeHub(undefined, (grant) => time.at(grantedAt.shift() ?? 0, () => grant.settle(true)));
    const { creation, sent } = await play(
      untilThen(25 * minute, () => status(500)),
      { hub },
    );
    expect(creation).toMatchObject({ kind: 'created' });
    expect(sent).toEqual([0, 10 * minute, 20 * minute, 30 * minute]);
  });

  /** A hub that holds each request for 20 s and grants none. `idleMs`: how long it has granted none to anyone. */
  const stuck = (idleMs?: number) => (time: VirtualTime) =>
    fakeHub(undefined, (grant) => {
      const askedAt = time.clock.monotonic();
      time.at(askedAt + 20 * second, () => grant.settle(false, idleMs));
    });

  it('the request is repeated after three minutes in which the hub grants nothing to anyone', async () => {
    const { creation, sent } = await play((at) => (at < minute ? status(500) : created), { hub: stuck() });
    expect(creation).toMatchObject({ kind: 'created', requests: 2 });
    expect(sent[1]).toBeGreaterThanOrEqual(3 * minute);
    // Gates that lose their hub at the same time spread their requests over a minute.
    expect(sent[1]).toBeLessThanOrEqual(4 * minute + 20 * second);
  });

  it.each<[string, number, number]>([
    ['the hub grants the requests of other gates', 10 * minute, 0],
    ['the timeout is over before the three minutes', 2 * minute, Number.POSITIVE_INFINITY],
  ])('without a grant, it is not repeated until the timeout if %s', async (_what, timeoutMs, idleMs) => {
    const { error, sent, endedAt } = await play(() => status(500), { hub: stuck(idleMs), timeoutMs });
    expect(error).toMatchObject({ status: 500 });
    expect(sent).toEqual([0]);
    expect(endedAt).toBe(timeoutMs);
  });

  it('reports only a 429 to the hub', async () => {
    const course: Course = (_at, _limit, number) =>
      number === 1 ? status(500) : number === 2 ? status(429, { 'retry-after': '7' }) : created;
    const hub = fakeHub();
    const { creation, sent } = await play(course, { hub: () => hub });
    expect(creation).toMatchObject({ requests: 3 });
    expect(hub.limited).toEqual([7000]);
    expect(hub.log.filter((entry) => entry === 'create')).toHaveLength(sent.length - 1);
  });
});

describe('a stop', () => {
  it.each([
    ['while it waits', 40 * second],
    ['while a request is under way', 31.5 * second],
  ])('%s sends the request once more, since a run may exist, and ends within 5 s', async (_name, stopAt) => {
    const course: Course = (at) => (at < 30 * second ? broken() : at < stopAt ? 'stalled' : created);
    const { creation, requests, endedAt } = await play(course, { stopAt });
    expect(creation).toMatchObject({ kind: 'created' });
    expect(requests.size).toBe(1);
    expect(endedAt - stopAt).toBeLessThanOrEqual(5 * second);
  });

  it('is answered within 5 s if the service still does not respond', async () => {
    const { creation, endedAt } = await play(() => 'stalled', { stopAt: 100 * second });
    expect(creation).toEqual({ kind: 'unknown' });
    expect(endedAt).toBeLessThanOrEqual(105 * second);
  });

  it('while it waits sends nothing if no request can have arrived', async () => {
    const { creation, sent } = await play(() => refusedAt('192.0.2.1'), { stopAt: 2 * second });
    expect(creation).toEqual({ kind: 'none' });
    expect(sent).toHaveLength(2);
  });
});

describe('the events', () => {
  it('say how long the request is repeated', async () => {
    const { events } = await play(() => status(500), { random: () => 0 });
    expect(events.slice(0, 2)).toMatchObject([
      { waitMs: 1000, leftMs: 5 * minute },
      { waitMs: 2000, leftMs: 5 * minute - 1000 },
    ]);
    const short = await play(() => status(500), { timeoutMs: 20 * second });
    expect(short.events[0]).toMatchObject({ leftMs: 20 * second });
    const limited = await play(() => status(429), { timeoutMs: 20 * minute });
    expect(limited.events[0]).toMatchObject({ leftMs: 20 * minute });
  });

  it.each<NetworkFault>(['dns'])('say how many requests a wrong address gets: %s', async (fault) => {
    const { events } = await play(() => new NetworkError(fault, 'no address'));
    expect(events.map(({ leftRequests }) => leftRequests)).toEqual([3, 2, 1]);
  });
});

it.each([
  ['true', true],
  ['true, true', true],
  ['True,false', null],
  ['false, false', false],
  ['maybe', null],
])('an Idempotency-Replayed header of %j is read as %j', async (header, replayed) => {
  const response = json(201, { runId: 'run_1' }, { 'idempotency-replayed': header });
  expect((await play(() => response)).creation).toMatchObject({ replayed });
});
