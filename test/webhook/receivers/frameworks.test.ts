import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import express5 from 'express';
import fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as onExpress from '../../../src/webhook/receivers/express.ts';
import * as onFastify from '../../../src/webhook/receivers/fastify.ts';
import * as onFetch from '../../../src/webhook/receivers/fetch.ts';
import * as onNode from '../../../src/webhook/receivers/node-http.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { until } from '../../until.ts';
import { headersFor, listen, now, post, secret } from './sending.ts';
import { express4, withNode } from './starts.ts';

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

const options: ReceiveOptions = { secrets: secret, now };

describe.each([
  ['Express 4', express4],
  ['Express 5', express5],
] as const)('%s', (_name, express) => {
  test('keeps the raw body from a later parser, which still parses for other routes', async () => {
    const seen: unknown[] = [];
    const app = express();
    app.use('/hook', onExpress.webhook(options));
    app.use(express.json());
    app.post('/hook', (request, response) => {
      seen.push(request.body, onExpress.deliveryOf(request).json());
      response.end();
    });
    app.post('/other', (request, response) => {
      seen.push(request.body);
      response.end();
    });
    const url = await listen(app);
    await post(url, '{"a":1}', headersFor('{"a":1}'));
    await post(url.replace('/hook', '/other'), '{"b":2}', []);
    expect(seen).toEqual([expect.any(Uint8Array), { a: 1 }, { b: 2 }]);
  });
});

test('Fastify verifies before validation, and keeps the parsers of the rest of the app', async () => {
  const app = fastify();
  app.post('/other', async (request) => ({ parsed: request.body }));
  app.register(async (scope) => {
    onFastify.webhook(scope, options);
    const headers = { type: 'object', required: ['x-other'] };
    scope.post('/strict', { schema: { headers } }, async () => 'never');
    scope.post('/hook', async (request) => onFastify.deliveryOf(request).json());
  });
  await app.ready();
  const url = await listen(app.routing);
  const other = await post(url.replace('/hook', '/other'), '{"a":1}', []);
  expect(JSON.parse(other.body.toString())).toEqual({ parsed: { a: 1 } });
  const hook = await post(url, '{"b":2}', headersFor('{"b":2}'));
  expect(JSON.parse(hook.body.toString())).toEqual({ b: 2 });
  const strict = await post(url.replace('/hook', '/strict'), '{"b":2}', []);
  expect([strict.status, strict.body.toString()]).toEqual([400, '']);
});

describe('Fastify with webhook() in a nested scope', () => {
  const inner = 'whsec_inner';

  async function nested(): Promise<string> {
    const app = fastify();
    app.register(async (outer) => {
      onFastify.webhook(outer, options);
      outer.post('/outer', async (request) => onFastify.deliveryOf(request).json());
      outer.register(async (scope) => {
        onFastify.webhook(scope, { ...options, secrets: inner });
        scope.post('/inner', async (request) => onFastify.deliveryOf(request).json());
        scope.register(async (deeper) => {
          deeper.post('/deeper', async (request) => onFastify.deliveryOf(request).json());
        });
      });
    });
    await app.ready();
    return listen(app.routing);
  }

  test.each([
    ['/outer', secret, inner],
    ['/inner', inner, secret],
    ['/deeper', inner, secret],
  ])('%s accepts only the secret of the nearest one', async (path, right, wrong) => {
    const url = (await nested()).replace('/hook', path);
    const status = async (key: string) => (await post(url, '{}', headersFor('{}', { key }))).status;
    expect([await status(right), await status(wrong)]).toEqual([200, 401]);
    expect((await post(url, '{}', [])).status).toBe(400);
  });
});

describe('the Fetch API', () => {
  const requestOf = (body: ReadableStream) =>
    new Request('https://example.test/', { method: 'POST', body, duplex: 'half' });

  test('stops reading an endless body at maxBytes', async () => {
    const cancel = vi.fn();
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1000));
    const received = onFetch.receive(requestOf(new ReadableStream({ pull, cancel })), {
      ...options,
      maxBytes: 5000,
    });
    await expect(received).rejects.toMatchObject({ code: 'body_too_large' });
    expect(cancel).toHaveBeenCalledOnce();
  });
});

describe("a framework's own request object", () => {
  /** Sends a delivery to a server, and returns the error of a receiver that gets an object made from the request. */
  async function errorFor(
    make: (request: IncomingMessage) => unknown,
    receive = onNode.receive,
  ): Promise<unknown> {
    const errors: unknown[] = [];
    const url = await listen(async (request, response) => {
      await receive(make(request) as never, options).catch((error: unknown) => errors.push(error));
      response.end();
    });
    await post(url, '{}', headersFor('{}'));
    return errors[0];
  }
  const fetchReceive = onFetch.receive as unknown as typeof onNode.receive;

  test.each([
    ['a request of Node', (request) => request],
    ["Hono's request", (request) => ({ raw: request, header: () => undefined })],
  ] satisfies [string, (request: IncomingMessage) => unknown][])(
    'fetch refuses %s as bad_option, and names what to pass',
    async (_what, make) => {
      const hint = expect.stringMatching(/in Hono, c\.req\.raw.*rungate\/webhook\/node-http/);
      expect(await errorFor(make, fetchReceive)).toMatchObject({ code: 'bad_option', hint });
    },
  );
});

describe('node:http', () => {
  test('applies maxBytes to a chunked body', async () => {
    const { send } = await withNode()({ ...options, maxBytes: 1000 });
    const status = async (length: number) => {
      const body = Buffer.alloc(length, 0x31);
      return (await send(body, [...headersFor(body), ['Transfer-Encoding', 'chunked']])).status;
    };
    expect([await status(200_000), await status(1000)]).toEqual([413, 200]);
  });

  test('gives body_incomplete if the sender disconnects', async () => {
    const receive = vi.fn((request: IncomingMessage) => onNode.receive(request, options));
    const url = await listen((request) => {
      receive(request).catch(() => {});
      request.once('data', () => socket.destroy());
    });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
    await until(() => receive.mock.settledResults[0]?.type === 'rejected');
    const error = receive.mock.settledResults[0]?.value as unknown;
    expect(error).toBeInstanceOf(onNode.WebhookVerificationError);
    expect(error).toMatchObject({ code: 'body_incomplete' });
    expect(onNode.statusOf(error)).toBe(400);
  });
});
