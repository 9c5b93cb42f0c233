import { createServer, type IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { type DeliveryFaultKind, deliveryKinds } from '../../src/mock/faults/kinds.ts';
import { parseFault } from '../../src/mock/faults/parse.ts';
import type { MockOptions } from '../../src/mock/server.ts';
import { verify } from '../../src/webhook/node.ts';
import { createReplayGuard } from '../../src/webhook/replay.ts';
import { listen } from '../listen.ts';
import { until } from '../until.ts';
import { startService } from './service.ts';

interface Received {
  id: string;
  type: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The result of `onReceive`. */
  seen: unknown;
}

/** Starts a receiver that responds with 204, after it has called `onReceive`. */
async function receive(onReceive: () => unknown = () => undefined) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const seen = await onReceive();
    received.push({ ...JSON.parse(body.toString()), headers: request.headers, body, seen });
    response.writeHead(204).end();
  });
  return { received, url: `http://127.0.0.1:${await listen(server)}/hook` };
}

/** Starts a mock with one webhook for each event of runs, and a receiver for it. */
async function started(faults: readonly string[], options: MockOptions = {}) {
  const events = ['run.started', 'run.completed', 'run.cancelled'];
  const state = async () => (await service.call('GET', `/api/ci/runs/${runs.at(-1)}`)).json().state;
  const { received, url } = await receive(() => (runs.length === 0 ? undefined : state()));
  const service = await startService({ deliveries: 'loopback', faults: faults.map(parseFault), ...options });
  const { mock, asUser, trigger } = service;
  const runs: string[] = [];
  const hook = (await asUser('POST', '/api/webhooks', { url, events })).json();
  const path = `/api/webhooks/${hook.id}`;
  return {
    ...service,
    received,
    state,
    types: () => received.map(({ type }) => type),
    /** Requests a test delivery and returns its id. */
    test: async () => String((await asUser('POST', `${path}/test`)).json().id),
    recorded: async (id: string) => (await asUser('GET', `${path}/deliveries/${id}`)).json(),
    retry: (id: string) => asUser('POST', `${path}/deliveries/${id}/retry`),
    run: async () => {
      runs.push(await trigger());
      return runs.at(-1);
    },
    check: (one: Received | undefined, at = mock.state.clock.now()) =>
      verify({
        body: one?.body ?? '',
        headers: one?.headers ?? {},
        secrets: [String(hook.secret)],
        now: new Date(at),
      }),
  };
}

const tested = new Set<DeliveryFaultKind>();
const testKind = (kind: DeliveryFaultKind, promise: string, test: () => Promise<void>) => {
  tested.add(kind);
  it(`${kind}: ${promise}`, test);
};

describe('the delivery fault', () => {
  testKind('drop', 'sends nothing and records a failure, which a retry repairs', async () => {
    const { mock, test, received, recorded, retry } = await started(['drop']);
    const id = await test();
    await mock.deliveriesSent();
    expect(received).toEqual([]);
    expect(await recorded(id)).toMatchObject({ status: 'failed', responseStatus: null, attempts: 1 });
    await retry(id);
    await mock.deliveriesSent();
    expect(received.map((one) => one.id)).toEqual([id]);
    expect(await recorded(id)).toMatchObject({ status: 'delivered', responseStatus: 204, attempts: 2 });
  });

  testKind(
    'duplicate',
    'sends the same bytes and headers twice, so that the second is a replay',
    async () => {
      const { mock, test, received, check } = await started(['duplicate'], { clock: systemClock });
      await test();
      await mock.deliveriesSent();
      const [first, second] = received as [Received, Received];
      expect(received).toHaveLength(2);
      expect([second.body, second.headers]).toEqual([first.body, first.headers]);
      const guard = createReplayGuard();
      const seen = [];
      for (const one of received)
        seen.push(await guard.check(await check(one), String(one.headers['x-service-signature'])));
      expect(seen).toEqual(['first', 'replay']);
    },
  );

  testKind('delay', 'sends the delivery later than its timestamp says', async () => {
    const on = await started(['delay=40ms']);
    const arrivedAt = () => on.mock.state.clock.now();
    await on.test();
    await on.mock.deliveriesSent();
    await expect(on.check(on.received[0])).resolves.toBeDefined();
    const signedAt = Date.parse(String(on.received[0]?.headers['x-service-timestamp']));
    expect(arrivedAt() - signedAt).toBeGreaterThanOrEqual(40);
  });

  testKind('early', 'is sent while the status says in_progress', async () => {
    const on = await started(['early=1h'], { duration: 10 });
    await on.run();
    await until(() => on.types().includes('run.completed'));
    expect(on.received.at(-1)).toMatchObject({ type: 'run.completed', seen: 'in_progress' });
    expect(JSON.parse(String(on.received.at(-1)?.body)).data.state).toBe('completed');
    await expect(on.check(on.received.at(-1))).resolves.toBeDefined();
    expect(await on.state()).toBe('in_progress');
  });

  testKind('reorder', 'swaps pairs if it affects every delivery', async () => {
    const { mock, test, received } = await started(['reorder=1h:all'], { clock: systemClock });
    const sent: string[] = [];
    for (const count of [0, 2, 2, 4]) {
      sent.push(await test());
      await until(() => received.length === count);
    }
    await mock.deliveriesSent();
    expect(received.map(({ id }) => sent.indexOf(id))).toEqual([1, 0, 3, 2]);
  });

  testKind('forge', 'sends a delivery whose signature does not match', async () => {
    const { mock, test, received, recorded, check } = await started(['forge']);
    const forged = await test();
    await mock.deliveriesSent();
    await test();
    await mock.deliveriesSent();
    await expect(check(received[0])).rejects.toMatchObject({ code: 'mismatch' });
    await expect(check(received[1])).resolves.toBeDefined();
    expect(received[0]).toMatchObject({ id: forged, type: 'webhook.test' });
    expect(await recorded(forged)).toMatchObject({ status: 'delivered', responseStatus: 204 });
  });

  it('is tested here for every kind', () => {
    expect([...tested].sort()).toEqual(Object.keys(deliveryKinds).sort());
  });
});

describe('a mock without faults', () => {
  it.each([
    ['passed', 'run.completed', 'completed'],
    ['cancelled', 'run.cancelled', 'cancelled'],
  ] as const)(
    'announces a run that ends as %s with run.started and %s, once each',
    async (outcome, type, state) => {
      const { mock, run, received, types } = await started([], { outcome, duration: 10, clock: systemClock });
      await run();
      await until(() => received.length >= 2);
      await mock.deliveriesSent();
      expect(types()).toEqual(['run.started', type]);
      expect(JSON.parse(String(received[1]?.body)).data).toMatchObject({ state });
    },
  );

  it('sends nothing to other machines by default', async () => {
    const { asUser } = await started([]);
    const url = 'http://192.0.2.1:9/hook';
    const { id } = (await asUser('POST', '/api/webhooks', { url })).json();
    expect((await asUser('POST', `/api/webhooks/${id}/test`)).json()).toMatchObject({ status: 'not_sent' });
  });
});

describe('a delivery fault', () => {
  it('affects the deliveries of its event, counted like requests', async () => {
    const { mock, run, test, types } = await started(['drop@run.completed:2']);
    for (const count of [3, 5]) {
      await run();
      await test();
      await until(() => types().length === count);
    }
    // The second run may still be going.
    await until(() => mock.faults.pending === 0);
    await mock.deliveriesSent();
    expect(types().toSorted()).toEqual(
      ['run.completed', 'run.started', 'run.started', 'webhook.test', 'webhook.test'].toSorted(),
    );
  });

  it('can be added to a running mock, but only for events', async () => {
    const { mock, call, test, received } = await started([]);
    const add = async (body: unknown) =>
      (await call('POST', '/_mock/faults', { body: JSON.stringify(body) })).status;
    expect(await add({ kind: 'delay', byMs: 10, event: 'webhook.test', times: 'all' })).toBe(200);
    expect(await add({ fault: 'drop@webhook.test:2-' })).toBe(200);
    expect(await add({ kind: 'drop', event: 'run.complete' })).toBe(422);
    expect(await add({ kind: 'drop', endpoint: 'run.status' })).toBe(422);
    expect(await add({ kind: 'reset', event: 'run.completed' })).toBe(422);
    expect(() => mock.faults.add({ kind: 'drop', endpoint: 'run.status' })).toThrow('drop has no endpoint');
    expect(mock.faults.pending).toBe(2);
    await test();
    await mock.deliveriesSent();
    expect(received).toHaveLength(1);
  });
});
