import { describe, expect, test } from 'vitest';
import { ContractError, HttpError, NetworkError, UsageError } from '../../src/errors.ts';
import { connect, running, status, trigger } from '../transport/connect.ts';
import { json, type Scene, serve, unreachableUrl } from '../transport/serve.ts';
import { turns, until } from '../until.ts';
import { rejection } from './rejection.ts';

/** Answers with each of the steps in turn, then with the last one for ever. */
function steps(...answers: ((scene: Scene) => void)[]) {
  return serve((scene) => answers[Math.min(scene.index, answers.length - 1)]?.(scene));
}

const ok = ({ response }: Scene) => json(response, 200, running);
const fails =
  (code: number, headers: Record<string, string> = {}, body: unknown = { error: 'not now' }) =>
  ({ response }: Scene) =>
    json(response, code, body, headers);
const reset = ({ socket }: Scene) => socket.resetAndDestroy();
const says =
  (text: string) =>
  ({ response }: Scene) =>
    response.end(text);
const truncated = ({ response, socket }: Scene) => {
  response.writeHead(200, { 'content-length': '500' });
  response.write('{"state":', () => socket.destroy());
};

describe('a passing failure', () => {
  test.each([
    ['408', fails(408)],
    ['500', fails(500)],
    ['502', fails(502)],
    ['503', fails(503)],
    ['504', fails(504)],
    ['a reset', reset],
    ['a truncated reply', truncated],
    ['HTML with status 200', says('<html><title>Sorry</title></html>')],
    ['an empty body', says('')],
  ])('%s is tried again after a jittered wait', async (_, failure) => {
    const { url, seen } = await steps(failure, failure, failure, ok);
    const { exchange, clock } = connect(url);
    const reply = await status(exchange);
    expect(reply).toMatchObject({ value: running, status: 200, attempts: 4, elapsedMs: 1750 });
    expect(clock.sleeps).toEqual([250, 500, 1000]);
    expect(seen).toHaveLength(4);
  });

  test('ends the call after four tries, with what is known about it', async () => {
    const { url, seen } = await steps(fails(503));
    const { exchange } = connect(`${url}/prefix`);
    const error = await rejection(status(exchange), HttpError);
    expect(error.status).toBe(503);
    expect(error.facts).toEqual({
      endpoint: 'run.status',
      method: 'GET',
      path: '/prefix/api/ci/runs/run_1',
      attempts: 4,
      elapsedMs: 1750,
    });
    expect(seen).toHaveLength(4);
  });

  test('of the connection ends the call after four tries', async () => {
    const { exchange, clock } = connect(await unreachableUrl());
    const error = await rejection(status(exchange), NetworkError);
    expect(error.fault).toBe('refused');
    expect(error.facts).toMatchObject({ attempts: 4 });
    expect(clock.sleeps).toHaveLength(3);
  });

  test.each([400, 401, 403, 404, 409, 410, 422, 501])('is not what %i is: one try', async (code) => {
    const { url, seen } = await steps(fails(code));
    const { exchange } = connect(url);
    expect((await rejection(status(exchange), HttpError)).facts.attempts).toBe(1);
    expect(seen).toHaveLength(1);
  });

  test('is not what a broken contract is: one try', async () => {
    const { url, seen } = await steps(({ response }) => json(response, 200, { state: 7 }));
    expect((await rejection(status(connect(url).exchange), ContractError)).unreadable).toBe(false);
    expect(seen).toHaveLength(1);
  });

  test('is told to onRetry before the wait', async () => {
    const { url } = await steps(fails(502), ok);
    const told: unknown[] = [];
    const { exchange, clock } = connect(url);
    await status(exchange, {
      onRetry: (error, waitMs) => told.push(error.code, waitMs, clock.sleeps.length),
    });
    expect(told).toEqual(['http_error', 250, 0]);
  });
});

describe('attempts', () => {
  test.each([fails(503), fails(429), reset])('1 means no retry at all', async (failure) => {
    const { url, seen } = await steps(failure, ok);
    const { exchange, clock } = connect(url);
    await expect(status(exchange, { attempts: 1 })).rejects.toBeInstanceOf(Error);
    expect(seen).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  test.each([0, -1, 1.5, Number.NaN])('%d is a usage error', async (attempts) => {
    await rejection(status(connect('https://h.example').exchange, { attempts }), UsageError);
  });
});

describe('a POST', () => {
  const create = (exchange: ReturnType<typeof connect>['exchange']) => exchange('env.create', { body: {} });

  test.each([fails(500), fails(503), reset, truncated])(
    'that may have taken effect is not sent again',
    async (failure) => {
      const { url, seen } = await steps(failure, ok);
      await expect(create(connect(url).exchange)).rejects.toBeInstanceOf(Error);
      expect(seen).toHaveLength(1);
    },
  );

  test('that surely was not processed is sent again', async () => {
    const { url, seen } = await steps(fails(429, { 'retry-after': '1' }), ok);
    expect((await create(connect(url).exchange)).attempts).toBe(2);
    expect(seen).toHaveLength(2);
    const refused = await rejection(create(connect(await unreachableUrl()).exchange), NetworkError);
    expect(refused.facts.attempts).toBe(4);
  });

  test('without a key goes over a fresh connection, never over a reused one', async () => {
    const { url, seen } = await steps(ok);
    const { exchange } = connect(url);
    await status(exchange);
    await turns();
    await create(exchange);
    await status(exchange);
    const [before, post, after] = seen.map(({ connection }) => connection);
    expect(post).not.toBe(before);
    expect(after).toBe(before);
  });

  test('that is declared idempotent is sent again', async () => {
    const { url, seen } = await steps(reset, fails(502), ok);
    await connect(url).exchange('run.cancel', { params: { runId: 'r' } });
    expect(seen.map(({ body }) => body)).toEqual(['', '', '']);
  });
});

describe('a keyed POST', () => {
  test('is sent again with the same key and the same bytes after a lost reply', async () => {
    const { url, seen } = await steps(reset, truncated, fails(503), ok);
    await trigger(connect(url).exchange, { idempotencyKey: 'k-1' });
    expect(seen).toHaveLength(4);
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(['k-1']));
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
  });

  test('without a key gets one of its own, the same over its tries and another in the next call', async () => {
    const { url, seen } = await steps(reset, ok);
    const { exchange } = connect(url);
    await trigger(exchange);
    await trigger(exchange);
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  test('waits for the first one while that is in progress', async () => {
    const { url } = await steps(
      reset,
      fails(409, {}, { error: 'a request with this key is in progress' }),
      ok,
    );
    expect((await trigger(connect(url).exchange)).attempts).toBe(3);
  });

  test('that came with another body is refused at once', async () => {
    const { url, seen } = await steps(fails(409, {}, { error: 'this key came with another body' }));
    expect((await rejection(trigger(connect(url).exchange), HttpError)).status).toBe(409);
    expect(seen).toHaveLength(1);
  });
});

describe('a DELETE', () => {
  const remove = (exchange: ReturnType<typeof connect>['exchange']) =>
    exchange('env.delete', { params: { id: 'e' } });

  test.each([reset, truncated, fails(502), fails(504)])(
    'that finds nothing after a lost reply has succeeded',
    async (lost) => {
      const { url } = await steps(lost, fails(404));
      expect(await remove(connect(url).exchange)).toMatchObject({
        value: undefined,
        status: 404,
        attempts: 2,
      });
    },
  );

  test.each([[fails(503)], [fails(429, { 'retry-after': '1' })]])(
    'that finds nothing after a refusal has found nothing',
    async (refusal) => {
      const { url } = await steps(refusal, fails(404));
      expect((await rejection(remove(connect(url).exchange), HttpError)).status).toBe(404);
    },
  );

  test('that finds nothing at first has found nothing', async () => {
    const { url } = await steps(fails(404));
    expect((await rejection(remove(connect(url).exchange), HttpError)).facts.attempts).toBe(1);
  });

  test('of any other kind does not take a 404 for success', async () => {
    const { url } = await steps(reset, fails(404));
    expect((await rejection(status(connect(url).exchange), HttpError)).status).toBe(404);
  });
});

test('a reused connection that is reset under the request is replaced', async () => {
  let first: number | undefined;
  const { url, seen } = await serve((scene) => {
    first ??= scene.seen.connection;
    if (scene.index > 0 && scene.seen.connection === first) reset(scene);
    else ok(scene);
  });
  const { exchange } = connect(url);
  await status(exchange);
  // A connection is free again only a moment after its reply.
  await turns();
  expect((await status(exchange)).attempts).toBe(2);
  expect(seen.map(({ connection }) => connection)).toEqual([1, 1, 2]);
});

test('kept connections that have all gone dead do not end a call', async () => {
  const first: Scene[] = [];
  const { url, seen } = await serve((scene) => {
    // Answered together, so that each of the first calls has a connection of its own.
    if (scene.index < 6) {
      if (first.push(scene) === 6) first.forEach(ok);
    } else if (scene.seen.connection <= 6) reset(scene);
    else ok(scene);
  });
  const { exchange } = connect(url);
  await Promise.all(Array.from({ length: 6 }, () => status(exchange)));
  expect(new Set(seen.map(({ connection }) => connection)).size).toBe(6);
  // A connection is free again only a moment after its reply.
  await turns();
  expect(await status(exchange)).toMatchObject({ status: 200, attempts: 2 });
});

describe('a rate limit', () => {
  test('is no try: it is waited out as often as it takes, then four tries are left', async () => {
    const limited = fails(429, { 'retry-after': '2' });
    const { url, seen } = await steps(
      limited,
      limited,
      limited,
      limited,
      limited,
      fails(503),
      fails(503),
      fails(503),
      limited,
      ok,
    );
    const { exchange, clock } = connect(url);
    expect((await status(exchange, { limitTimeoutMs: 3_600_000 })).attempts).toBe(10);
    expect(clock.sleeps).toEqual([3000, 17_000, 17_000, 17_000, 242_000, 250, 500, 1000, 242_000]);
    expect(seen).toHaveLength(10);
  });

  test('that does not say how long is waited out for a minute, then over ever longer windows', async () => {
    const { url } = await steps(fails(429), fails(429), fails(429), fails(429), ok);
    const { exchange, clock } = connect(url);
    await status(exchange, { limitTimeoutMs: 3_600_000 });
    expect(clock.sleeps).toEqual([22_500, 60_000, 270_000, 270_000]);
  });

  test('is still counted after another failure', async () => {
    const { url } = await steps(fails(429), fails(503), fails(429), ok);
    const { exchange, clock } = connect(url);
    await status(exchange);
    expect(clock.sleeps).toEqual([22_500, 250, 60_000]);
  });

  test('that says "now" again and again is asked no more often than one that says nothing', async () => {
    const now = fails(429, { 'retry-after': '0' });
    const { url } = await steps(now, now, now, ok);
    const { exchange, clock } = connect(url);
    await status(exchange);
    expect(clock.sleeps).toEqual([0, 60_000, 45_000]);
  });

  test('is waited out up to a deadline of its own, which may be longer than the call', async () => {
    const { url } = await steps(fails(429, { 'retry-after': '60' }));
    const { exchange, clock } = connect(url);
    const error = await rejection(
      status(exchange, { timeoutMs: 10_000, limitTimeoutMs: 200_000 }),
      HttpError,
    );
    expect(clock.sleeps).toEqual([67_500, 96_250]);
    expect(error.hint).toContain('the service requests a wait of 60 s, but the call has only 36');
  });

  test('uses up none of the time of the call, however slow its responses are', async () => {
    const sent: number[] = [];
    const { exchange, clock } = connect('https://h.example', {
      transport: {
        async send(_request, { timeoutMs }) {
          sent.push(timeoutMs);
          clock.advance(25_000);
          const limited = sent.length <= 20;
          return limited
            ? { status: 429, headers: { 'retry-after': '5' }, text: '{"error":"later"}' }
            : { status: 200, headers: {}, text: JSON.stringify(running) };
        },
        async close() {},
      },
    });
    const reply = await status(exchange, { timeoutMs: 120_000, limitTimeoutMs: 10 * 3_600_000 });
    expect(reply).toMatchObject({ status: 200, attempts: 21 });
    expect(new Set(sent)).toEqual(new Set([30_000]));
  });

  test('may be given less time than the call', async () => {
    const { url, seen } = await steps(fails(429, { 'retry-after': '6' }));
    const { exchange } = connect(url);
    expect((await rejection(status(exchange, { limitTimeoutMs: 5000 }), HttpError)).code).toBe(
      'rate_limited',
    );
    expect(seen).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  test.each([503, 502])('with %i is used as given, in seconds or as a date', async (code) => {
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, 13)).toUTCString();
    const { url } = await steps(
      fails(code, { 'retry-after': '7.5' }),
      fails(code, { 'retry-after': at, date: new Date(Date.UTC(2026, 0, 1, 0, 0, 7)).toUTCString() }),
      ok,
    );
    const { exchange, clock } = connect(url);
    await status(exchange);
    expect(clock.sleeps).toEqual([7500, 5500]);
  });

  test('past the deadline ends the call at once and says so: never a truncated wait', async () => {
    const { url, seen } = await steps(fails(503, { 'retry-after': '300' }), ok);
    const { exchange, clock } = connect(url);
    const error = await rejection(status(exchange), HttpError);
    expect(error).toMatchObject({ status: 503, retryAfterMs: 300_000 });
    expect(error.hint).toContain('the service requests a wait of 300 s, but the call has only 120 s left');
    expect(clock.sleeps).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  test('that makes no sense counts as none', async () => {
    const { url } = await steps(fails(503, { 'retry-after': '-5' }), ok);
    const { exchange, clock } = connect(url);
    await status(exchange);
    expect(clock.sleeps).toEqual([250]);
  });
});

describe('the deadline of a call', () => {
  test('bounds the time of each try', async () => {
    const given: number[] = [];
    const { exchange, clock } = connect('https://h.example', {
      transport: {
        async send(request, { timeoutMs }) {
          given.push(timeoutMs);
          clock.advance(timeoutMs);
          throw new NetworkError('broken', `no reply from ${request.url.host}`);
        },
        async close() {},
      },
    });
    const error = await rejection(status(exchange, { timeoutMs: 70_000 }), NetworkError);
    expect(given).toEqual([30_000, 30_000, 70_000 - 60_000 - 750]);
    expect(error.fault).toBe('deadline');
    expect(error.message).toBe('GET /api/ci/runs/run_1 got no response within 70 s: no reply from h.example');
    expect(error.facts).toMatchObject({ attempts: 3, elapsedMs: 70_000 });
  });

  test('is kept with a server that never answers, in real time', async () => {
    const { url } = await serve(() => {});
    const { exchange } = connect(url);
    const error = await rejection(status(exchange, { requestTimeoutMs: 60, attempts: 2 }), NetworkError);
    expect(error.message).toMatch(/^no complete response from \S+ within 60 ms/);
    expect(error.facts.attempts).toBe(2);
  });

  test('must be a duration', async () => {
    const { exchange } = connect('https://h.example');
    for (const ms of [0, -1, Number.NaN]) {
      await rejection(status(exchange, { timeoutMs: ms }), UsageError);
      await rejection(status(exchange, { requestTimeoutMs: ms }), UsageError);
    }
  });
});

describe('a stop', () => {
  test('during a request or a wait ends the call with its reason, whatever it is', async () => {
    const { url, seen } = await serve(() => {});
    for (const [index, reason] of ['stopped', new Error('stopped'), 7].entries()) {
      const stop = new AbortController();
      const pending = status(connect(url).exchange, { signal: stop.signal });
      void until(() => seen.length > index).then(() => stop.abort(reason));
      await expect(pending).rejects.toBe(reason);
    }
    const { url: busy } = await steps(fails(503, { 'retry-after': '60' }));
    const stop = new AbortController();
    const options = { signal: stop.signal, onRetry: () => stop.abort('stopped') };
    await expect(status(connect(busy).exchange, options)).rejects.toBe('stopped');
  });

  test('before the call: nothing is sent', async () => {
    const { url, seen } = await steps(ok);
    await expect(status(connect(url).exchange, { signal: AbortSignal.abort('stopped') })).rejects.toBe(
      'stopped',
    );
    expect(seen).toEqual([]);
  });

  test('by close ends calls under way, and none begins after it', async () => {
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

test('every request and every wait is told to onExchange', async () => {
  const { url } = await steps(fails(503), reset, ok);
  const { exchange, events } = connect(url);
  await status(exchange);
  const one = {
    type: 'try',
    endpoint: 'run.status',
    method: 'GET',
    path: '/api/ci/runs/run_1',
    elapsedMs: 0,
  };
  expect(events).toEqual([
    { ...one, attempt: 1, status: 503, code: 'http_error' },
    { type: 'wait', endpoint: 'run.status', attempt: 1, waitMs: 250, reason: expect.stringContaining('503') },
    { ...one, attempt: 2, code: 'network_broken' },
    {
      type: 'wait',
      endpoint: 'run.status',
      attempt: 2,
      waitMs: 500,
      reason: expect.stringContaining('connection'),
    },
    { ...one, attempt: 3, status: 200 },
  ]);
});
