import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import { createHubClient } from '../../src/gate/fleet/hub-client.ts';
import type { HubEvent } from '../../src/gate/fleet/protocol.ts';
import { deliveryReceiver } from '../../src/hub/deliveries.ts';
import type { HubLogEvent } from '../../src/hub/http.ts';
import { memoryHub } from '../../src/hub/hub.ts';
import { usualBudget } from '../../src/hub/ledger.ts';
import { serveHub } from '../../src/hub/server.ts';
import { nameInCommands } from '../../src/options/spelling.ts';
import { receiver } from '../../src/transport/address.ts';
import { httpTransport } from '../../src/transport/send.ts';
import { defaultHeaderNames } from '../../src/webhook/headers.ts';
import { signSync } from '../../src/webhook/node.ts';
import { request } from '../gate/fleet/fake-hub.ts';
import { until } from '../until.ts';
import { virtualTime } from '../virtual-time.ts';

const secret = 'whsec_of_the_test';
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startHub(limits = usualBudget, receiveMs?: number, clock: Clock = systemClock) {
  const log: HubLogEvent[] = [];
  const beats = new Set<() => void>();
  const hub = memoryHub(limits, systemClock, true);
  const server = await serveHub('127.0.0.1', 0, {
    hub,
    clock,
    every(_ms, beat) {
      beats.add(beat);
      return () => beats.delete(beat);
    },
    tokens: ['new-token', 'old-token'],
    receive: deliveryReceiver(
      { secrets: [secret], tenantSecret: undefined, headerNames: defaultHeaderNames },
      systemClock.now,
    ),
    redis: () => null,
    startJob: null,
    metrics: async () => ({ type: 'text/plain', text: 'up 1\n' }),
    log: (event) => log.push(event),
    receiveMs,
  });
  cleanups.push(() => server.close(0));
  return {
    server,
    hub,
    log,
    beat() {
      for (const each of beats) each();
    },
  };
}

function connect(url: string, token = 'new-token') {
  const to = receiver('hub', nameInCommands);
  const transport = httpTransport({ to });
  cleanups.push(() => transport.close());
  const client = createHubClient({
    url: new URL(url),
    token,
    transport,
    clock: systemClock,
    to,
  });
  return {
    client,
    /** Collects the events of a stream, and its heartbeats, until the test ends. */
    open(runIds: readonly string[], lastId: string | null = null) {
      const events: HubEvent[] = [];
      const beats: HubEvent[] = [];
      const stop = new AbortController();
      cleanups.push(() => stop.abort());
      const onEvent = (event: HubEvent) => (event.type === 'heartbeat' ? beats : events).push(event);
      const ended = client.follow(runIds, lastId, onEvent, stop.signal);
      ended.catch(() => {});
      return { events, beats, ended };
    },
  };
}

function signedHeaders(body: string) {
  const { timestamp, signature } = signSync({ body, secret });
  return { [defaultHeaderNames.timestamp]: timestamp, [defaultHeaderNames.signature]: signature };
}

async function deliver(url: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/deliveries`, {
    method: 'POST',
    body,
    headers: { ...signedHeaders(body), ...headers },
  });
  return response.status;
}

describe('a stream', () => {
  it('is ready, lives, and has a wake-up for each delivery that names one of its runs', async () => {
    const { server, beat } = await startHub();
    const { events, beats } = connect(server.url).open(['run_1', '17']);
    await until(() => events.length === 1);
    beat();
    await until(() => beats.length === 1);
    expect(events).toEqual([{ type: 'ready' }]);
    expect(await deliver(server.url, '{"event":"x","data":{"other":"run_2"}}')).toBe(204);
    expect(await deliver(server.url, '{"event":"x","data":{"id":17}}')).toBe(204);
    expect(await deliver(server.url, '{"link":"https://app.example/projects/shop/runs/run_1?tab=1"}')).toBe(
      204,
    );
    await until(() => events.length === 3);
    expect(events.slice(1)).toMatchObject([
      { type: 'wake', runId: '17' },
      { type: 'wake', runId: 'run_1' },
    ]);
  });

  it('begins with the deliveries of the last day, and repeats the last ones after an event', async () => {
    const { server } = await startHub();
    expect(await deliver(server.url, '["run_1","run_2"]')).toBe(204);
    const { open } = connect(server.url);
    const first = open(['run_1']);
    await until(() => first.events.length === 2);
    const { id } = first.events[1] as { id: string };
    const resumed = open(['run_1'], id);
    await until(() => resumed.events.length === 2);
    expect(await deliver(server.url, '["run_1"]')).toBe(204);
    await until(() => resumed.events.length === 3);
    expect(resumed.events).toMatchObject([
      { type: 'ready' },
      { type: 'wake', runId: 'run_1', id },
      { type: 'wake', runId: 'run_1' },
    ]);
    const later = open(['run_1'], String(Number(id) + 120_000));
    await until(() => later.events.length === 1);
    expect(await deliver(server.url, '["run_1","again"]')).toBe(204);
    await until(() => later.events.length === 2);
    expect(later.events[1]).toMatchObject({ type: 'wake', runId: 'run_1' });
  });

  it('ends when the hub stops, one after another and without an error: the gates connect again', async () => {
    const time = virtualTime();
    const { server } = await startHub(usualBudget, undefined, time.clock);
    const ends: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { events, ended } = connect(server.url).open([]);
      void ended.then(() => ends.push(time.clock.monotonic()));
      await until(() => events.length === 1);
    }
    const closed = server.close(4000);
    for (let count = 1; count <= 4; count += 1) {
      await time.run(1000);
      await until(() => ends.length === count);
    }
    await closed;
    expect(ends).toEqual([1000, 2000, 3000, 4000]);
  });

  it.each([
    [1, 200],
    [undefined, 400],
    [2, 400],
  ])('for a gate that speaks version %j has status code %i', async (version, status) => {
    const { server } = await startHub();
    const response = await fetch(`${server.url}/v1/wakes`, {
      method: 'POST',
      headers: { Authorization: 'Bearer new-token' },
      body: JSON.stringify({ runs: [], version }),
    });
    expect(response.status).toBe(status);
    await response.body?.cancel();
  });
});

describe('a gate', () => {
  it('may have any of the tokens, and none without one', async () => {
    const { server } = await startHub();
    const { signal } = new AbortController();
    expect(await connect(server.url, 'old-token').client.grant(request('first'), signal)).toEqual({
      granted: true,
    });
    await expect(connect(server.url, 'wrong').client.grant(request('first'), signal)).rejects.toThrow(
      'the hub rejected the token (401)',
    );
    const response = await fetch(`${server.url}/v1/grants`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  });

  it('gets a grant as soon as the budget has room, and frees its place when it goes away', async () => {
    const { server, hub } = await startHub({ reads: 2, creates: 1, requests: 9 });
    const { client } = connect(server.url);
    const gone = new AbortController();
    const { signal } = new AbortController();
    expect(await client.grant(request('create'), signal)).toEqual({ granted: true });
    const waiting = client.grant(request('create'), gone.signal);
    waiting.catch(() => {});
    await until(() => hub.scheduler.waiting().create === 1);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await until(() => hub.scheduler.waiting().create === 0);
  });
});

describe('a delivery', () => {
  it('that is forged, damaged or too large is refused, logged, and wakes no gate', async () => {
    const { server, log } = await startHub();
    const { events } = connect(server.url).open(['run_1']);
    await until(() => events.length === 1);
    expect(
      await deliver(server.url, '["run_1"]', { [defaultHeaderNames.signature]: `sha256=${'0'.repeat(64)}` }),
    ).toBe(401);
    expect((await fetch(`${server.url}/deliveries`, { method: 'POST', body: '["run_1"]' })).status).toBe(400);
    expect(await deliver(server.url, 'run_1')).toBe(400);
    expect(await deliver(server.url, JSON.stringify(['run_1', 'x'.repeat(1024 * 1024)]))).toBe(413);
    expect(log.filter((event) => event.type === 'refused-delivery')).toMatchObject([
      { code: 'mismatch', status: 401 },
      { code: 'missing_header', status: 400 },
      { code: 'invalid_json', status: 400 },
      { code: 'body_too_large', status: 413 },
    ]);
    expect(await deliver(server.url, '["run_1","last"]')).toBe(204);
    await until(() => events.length === 2);
  });
});

/** Sends the beginning of a request. */
function begin(url: string, path: string, headers = '') {
  const socket = connectSocket(Number(new URL(url).port), '127.0.0.1');
  cleanups.push(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(`POST ${path} HTTP/1.1\r\nHost: hub\r\n${headers}Content-Length: 100\r\n\r\n{`);
  return socket;
}

describe('a delivery that does not arrive', () => {
  const refused = (log: readonly HubLogEvent[], code: string) =>
    log.filter((event) => event.type === 'refused-delivery' && event.code === code).length;

  it('is refused after a while, and whenever the sender disconnects', async () => {
    const { server, log } = await startHub(usualBudget, 300);
    begin(server.url, '/deliveries');
    await until(() => refused(log, 'body_incomplete') === 1);
    const socket = begin(server.url, '/deliveries');
    await once(socket, 'connect');
    socket.destroy();
    await until(() => refused(log, 'body_incomplete') === 2);
    expect(log.filter(({ type }) => type === 'fault')).toEqual([]);
  });

  it('does not keep the hub from stopping', async () => {
    const { server, log } = await startHub();
    begin(server.url, '/deliveries');
    begin(server.url, '/v1/grants', 'Authorization: Bearer new-token\r\n');
    await deliver(server.url, '{}');
    await server.close();
    await until(() => refused(log, 'body_incomplete') === 1);
    expect(log.filter(({ type }) => type === 'fault')).toEqual([]);
  });
});

describe('the holder of a token', () => {
  const subscribe = (url: string, runs: readonly string[]) =>
    fetch(`${url}/v1/wakes`, {
      method: 'POST',
      headers: { Authorization: 'Bearer new-token' },
      body: JSON.stringify({ version: 1, runs }),
    });
  it('may watch ids that are longer than any id that a delivery can name, at no cost', async () => {
    const { server, log } = await startHub();
    const { status, body } = await subscribe(server.url, ['x'.repeat(201), 'run_1']);
    expect(status).toBe(200);
    expect(log.at(-1)).toMatchObject({ type: 'stream', runs: 1 });
    await body?.cancel();
  });
});

describe('any other request', () => {
  it.each([
    ['GET', '/', 404],
    ['GET', '/deliveries', 405],
    ['POST', '/readyz', 405],
    ['GET', '/readyz', 200],
    ['GET', '/livez', 200],
    ['GET', '/metrics', 200],
  ])('%s %s is %i', async (method, path, status) => {
    const { server } = await startHub();
    expect((await fetch(server.url + path, { method })).status).toBe(status);
  });

  it.each([
    ['/v1/wakes', '{"version":1,"runs":[1]}', 400],
    ['/v1/wakes', 'not JSON', 400],
    ['/v1/grants', '{"class":"any"}', 400],
    ['/v1/grants', '[]', 400],
    ['/v1/limits', JSON.stringify({ text: 'x'.repeat(300_000) }), 413],
  ])('POST %s with %s is %i', async (path, body, status) => {
    const { server } = await startHub();
    const headers = { Authorization: 'Bearer new-token' };
    expect((await fetch(server.url + path, { method: 'POST', body, headers })).status).toBe(status);
  });
});
