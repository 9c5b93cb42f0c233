import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HttpError, NetworkError, UsageError } from '../../src/errors.ts';
import { connect, running, secrets, status, trigger } from '../transport/connect.ts';
import { json, type Scene, serve, unreachableUrl } from '../transport/serve.ts';
import { turns, until } from '../until.ts';
import { rejection } from './rejection.ts';

/** Serves the given responses in order, then repeats the last one. */
function steps(...responses: ((scene: Scene) => void)[]) {
  return serve((scene) => responses[Math.min(scene.index, responses.length - 1)]?.(scene));
}

const ok = ({ response }: Scene) => json(response, 200, running);
const failWith =
  (code: number, headers: Record<string, string> = {}, body: unknown = { error: 'not now' }) =>
  ({ response }: Scene) =>
    json(response, code, body, headers);
const reset = ({ socket }: Scene) => socket.resetAndDestroy();
const sendText =
  (text: string) =>
  ({ response }: Scene) =>
    response.end(text);
const truncated = ({ response, socket }: Scene) => {
  response.writeHead(200, { 'content-length': '500' });
  response.write('{"state":', () => socket.destroy());
};

describe('transient failures', () => {
  test.each([
    ['a 503', failWith(503)],
    ['a reset', reset],
    ['a truncated response', truncated],
    ['HTML with status 200', sendText('<html><title>Sorry</title></html>')],
    ['an empty body', sendText('')],
  ])('retries %s after a jittered wait', async (_, failure) => {
    const { url, seen } = await steps(failure, failure, failure, ok);
    const { exchange, clock } = connect(url);
    const response = await status(exchange);
    expect(response).toMatchObject({ value: running, status: 200, requests: 4, elapsedMs: 1750 });
    expect(clock.sleeps).toEqual([250, 500, 1000]);
    expect(seen).toHaveLength(4);
  });

  test('rejects after 4 requests, with the facts of the call', async () => {
    const { url, seen } = await steps(failWith(503));
    const { exchange } = connect(`${url}/prefix`);
    const error = await rejection(status(exchange), HttpError);
    expect(error.status).toBe(503);
    expect(error.facts).toEqual({
      endpoint: 'run.status',
      method: 'GET',
      path: '/prefix/api/ci/runs/run_1',
      requests: 4,
      elapsedMs: 1750,
    });
    expect(seen).toHaveLength(4);
  });
});

describe('the option maxRequests', () => {
  test.each([failWith(503), failWith(429), reset])('does not retry if maxRequests is 1', async (failure) => {
    const { url, seen } = await steps(failure, ok);
    const { exchange, clock } = connect(url);
    await expect(status(exchange, { maxRequests: 1 })).rejects.toBeInstanceOf(Error);
    expect(seen).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });
});

describe('POST requests', () => {
  const create = (exchange: ReturnType<typeof connect>['exchange']) => exchange('env.create', { body: {} });

  test.each([failWith(500), failWith(503), reset, truncated])(
    'does not retry a POST that may have taken effect',
    async (failure) => {
      const { url, seen } = await steps(failure, ok);
      await expect(create(connect(url).exchange)).rejects.toBeInstanceOf(Error);
      expect(seen).toHaveLength(1);
    },
  );

  test('retries a POST that was certainly not processed', async () => {
    const { url, seen } = await steps(failWith(429, { 'retry-after': '1' }), ok);
    expect((await create(connect(url).exchange)).requests).toBe(2);
    expect(seen).toHaveLength(2);
    const refused = await rejection(create(connect(await unreachableUrl()).exchange), NetworkError);
    expect(refused.facts.requests).toBe(4);
  });
});

describe('POST requests with an idempotency key', () => {
  test('retries after a lost response with the same key and the same bytes', async () => {
    const { url, seen } = await steps(reset, truncated, failWith(503), ok);
    await trigger(connect(url).exchange, { idempotencyKey: 'k-1' });
    expect(seen).toHaveLength(4);
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(['k-1']));
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
  });

  test('retries while the first request with the key is in progress', async () => {
    const { url } = await steps(
      reset,
      failWith(409, {}, { error: 'a request with this key is in progress' }),
      ok,
    );
    expect((await trigger(connect(url).exchange)).requests).toBe(3);
  });
});

describe('DELETE requests', () => {
  const remove = (exchange: ReturnType<typeof connect>['exchange']) =>
    exchange('env.delete', { params: { id: 'e' } });

  test.each([reset, truncated, failWith(502), failWith(504)])(
    'counts a 404 after a lost response as success',
    async (lost) => {
      const { url } = await steps(lost, failWith(404));
      expect(await remove(connect(url).exchange)).toMatchObject({
        value: undefined,
        status: 404,
        requests: 2,
      });
    },
  );

  test.each([[failWith(503)], [failWith(429, { 'retry-after': '1' })]])(
    'reports a 404 after a refused attempt',
    async (refusal) => {
      const { url } = await steps(refusal, failWith(404));
      expect((await rejection(remove(connect(url).exchange), HttpError)).status).toBe(404);
    },
  );
});

test('replaces a reused connection that is reset during a request', async () => {
  let first: number | undefined;
  const { url, seen } = await serve((scene) => {
    first ??= scene.seen.connection;
    if (scene.index > 0 && scene.seen.connection === first) reset(scene);
    else ok(scene);
  });
  const { exchange } = connect(url);
  await status(exchange);
  // A connection becomes free shortly after its response.
  await turns();
  expect((await status(exchange)).requests).toBe(2);
  expect(seen.map(({ connection }) => connection)).toEqual([1, 1, 2]);
});

describe('rate limits', () => {
  test('waits for rate limits without counting them as one of the 4 requests', async () => {
    const limited = failWith(429, { 'retry-after': '2' });
    const { url, seen } = await steps(
      limited,
      limited,
      limited,
      limited,
      limited,
      failWith(503),
      failWith(503),
      failWith(503),
      limited,
      ok,
    );
    const { exchange, clock } = connect(url);
    expect((await status(exchange, { limitTimeoutMs: 3_600_000 })).requests).toBe(10);
    expect(clock.sleeps).toEqual([3000, 17_000, 17_000, 17_000, 242_000, 250, 500, 1000, 242_000]);
    expect(seen).toHaveLength(10);
  });
});

describe('Retry-After', () => {
  test.each([503, 502])(
    'waits as long as the Retry-After of a %i says, in seconds or as a date',
    async (code) => {
      const at = new Date(Date.UTC(2026, 0, 1, 0, 0, 13)).toUTCString();
      const { url } = await steps(
        failWith(code, { 'retry-after': '7.5' }),
        failWith(code, { 'retry-after': at, date: new Date(Date.UTC(2026, 0, 1, 0, 0, 7)).toUTCString() }),
        ok,
      );
      const { exchange, clock } = connect(url);
      await status(exchange);
      expect(clock.sleeps).toEqual([7500, 5500]);
    },
  );

  test('rejects at once if the wait would pass the deadline', async () => {
    const { url, seen } = await steps(failWith(503, { 'retry-after': '300' }), ok);
    const { exchange, clock } = connect(url);
    const error = await rejection(status(exchange), HttpError);
    expect(error).toMatchObject({ status: 503, retryAfterMs: 300_000 });
    expect(error.hint).toContain('the service requests a wait of 300 s, but the call has only 120 s left');
    expect(clock.sleeps).toEqual([]);
    expect(seen).toHaveLength(1);
  });
});

describe('the timeout of a call', () => {
  test('limits the time of each request', async () => {
    const timeouts: number[] = [];
    const { exchange, clock } = connect('https://h.example', {
      transport: {
        async send(request, { timeoutMs }) {
          timeouts.push(timeoutMs);
          clock.advance(timeoutMs);
          throw new NetworkError('broken', `no response from ${request.url.host}`);
        },
        async close() {},
      },
    });
    const error = await rejection(status(exchange, { timeoutMs: 70_000 }), NetworkError);
    expect(timeouts).toEqual([30_000, 30_000, 70_000 - 60_000 - 750]);
    expect(error.fault).toBe('deadline');
    expect(error.message).toBe(
      'GET /api/ci/runs/run_1 got no response within 70 s: no response from h.example',
    );
    expect(error.facts).toMatchObject({ requests: 3, elapsedMs: 70_000 });
  });
});

describe('stopping a call', () => {
  test('rejects with the reason of the signal during a request or a wait', async () => {
    const { url, seen } = await serve(() => {});
    for (const [index, reason] of ['stopped', new Error('stopped'), 7].entries()) {
      const stop = new AbortController();
      const pending = status(connect(url).exchange, { signal: stop.signal });
      void until(() => seen.length > index).then(() => stop.abort(reason));
      await expect(pending).rejects.toBe(reason);
    }
    const { url: busy } = await steps(failWith(503, { 'retry-after': '60' }));
    const stop = new AbortController();
    const options = { signal: stop.signal, onRetry: () => stop.abort('stopped') };
    await expect(status(connect(busy).exchange, options)).rejects.toBe('stopped');
  });

  test('makes no warning of a leak, however many calls use a signal, and leaves no listener behind', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const { url, seen } = await serve(() => {});
    const { exchange } = connect(url);
    const stop = new AbortController();
    const { signal } = stop;
    const pending = Array.from({ length: 20 }, () => status(exchange, { signal }));
    await until(() => seen.length > 0);
    stop.abort('stopped');
    for (const { reason } of (await Promise.allSettled(pending)) as PromiseRejectedResult[])
      expect(reason).toBe('stopped');
    const silent = await serve(() => {});
    const unsignalled = connect(silent.url);
    const open = Promise.allSettled(Array.from({ length: 20 }, () => status(unsignalled.exchange)));
    await until(() => silent.seen.length > 0);
    await unsignalled.caller.close();
    await open;
    expect(warnings).toEqual([]);

    const { exchange: answered } = connect((await steps(ok)).url);
    const { signal: lasting } = new AbortController();
    await Promise.all([1, 2, 3].map(() => status(answered, { signal: lasting })));
    expect(getEventListeners(lasting, 'abort')).toEqual([]);

    // The signal of another library may not know the option signal of addEventListener.
    const listeners = new Set<unknown>();
    const foreign = {
      aborted: false,
      throwIfAborted() {},
      addEventListener: (_name: string, listener: unknown) => void listeners.add(listener),
      removeEventListener: (_name: string, listener: unknown) => void listeners.delete(listener),
    } as unknown as AbortSignal;
    await status(connect((await steps(ok)).url).exchange, { signal: foreign });
    expect(listeners.size).toBe(0);
  });

  test('close ends the calls in progress and refuses new ones', async () => {
    const { url, seen } = await serve(() => {});
    const { caller, exchange } = connect(url);
    const { signal } = new AbortController();
    const pending = [
      rejection(status(exchange), UsageError),
      rejection(status(exchange, { signal }), UsageError),
    ];
    await until(() => seen.length === 2);
    await caller.close();
    for (const error of await Promise.all(pending)) expect(error.message).toContain('closed');
    await rejection(status(exchange), UsageError);
  });
});

test('reports every request and every wait to onExchange', async () => {
  const { url } = await steps(failWith(503), reset, ok);
  const { exchange, events } = connect(url);
  await status(exchange);
  const one = {
    type: 'request',
    endpoint: 'run.status',
    method: 'GET',
    path: '/api/ci/runs/run_1',
    elapsedMs: 0,
  };
  expect(events).toEqual([
    { ...one, request: 1, status: 503, code: 'http_error' },
    { type: 'wait', endpoint: 'run.status', request: 1, waitMs: 250, reason: expect.stringContaining('503') },
    { ...one, request: 2, code: 'network_broken' },
    {
      type: 'wait',
      endpoint: 'run.status',
      request: 2,
      waitMs: 500,
      reason: expect.stringContaining('connection'),
    },
    { ...one, request: 3, status: 200 },
  ]);
});

test('redacts what it reports: the path, the reason of a wait, and mismatches', async () => {
  const { url } = await steps(failWith(503, {}, { error: `no ${secrets.token}` }), ({ response }) =>
    json(response, 200, { state: secrets.token, failed: secrets.token }),
  );
  const { exchange, events } = connect(url);
  const input = { params: { runId: secrets.token } };
  const { mismatches } = await exchange('run.status', input);
  expect(events).toHaveLength(3);
  expect(inspect({ events, mismatches }, { depth: null })).not.toContain(secrets.token);
});
