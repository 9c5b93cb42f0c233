import { createRequire } from 'node:module';
import express5 from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { deliveryOf, statusOf, webhook } from '../../../src/webhook/receivers/express.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { expectNotRaw, headersFor, listen, post, type Receiver, started, testReceiver } from './suite.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express5;

type Mount = (app: express5.Express, options: ReceiveOptions) => void;

const echo: express5.RequestHandler = (request, response) => {
  response.end(deliveryOf(request).bytes);
};

describe.each([
  ['Express 4', express4],
  ['Express 5', express5],
] as const)('%s', (name, express) => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  function startWith(mount: Mount) {
    return async (options: ReceiveOptions): Promise<Receiver> => {
      const errors: unknown[] = [];
      const app = express();
      mount(app, options);
      const onError: express5.ErrorRequestHandler = (error, _request, response, _next) => {
        errors.push(error);
        response.status(statusOf(error)).end();
      };
      app.use(onError);
      const { url, close } = await listen(app);
      closers.push(close);
      return { send: (body, headers) => post(url, body, headers), errors, close };
    };
  }

  testReceiver(
    name,
    startWith((app, options) => app.post('/hook', webhook(options), echo)),
  );
  test('uses the bytes that express.raw read', async () => {
    const start = startWith((app, options) =>
      app.post('/hook', express.raw({ type: '*/*', limit: '1mb' }), webhook(options), echo),
    );
    const receiver = await started(start, { json: false });
    const body = Uint8Array.of(0xff, 0x00, 0x0d, 0x0a);
    const response = await receiver.send(body, headersFor(body));
    expect([response.status, response.body.equals(body)]).toEqual([200, true]);
    expect((await receiver.send(Uint8Array.of(0xff), headersFor(body))).status).toBe(401);
  });

  test.each<[string, Mount]>([
    ['express.json()', (app) => app.use(express.json())],
    ['express.text()', (app) => app.use(express.text({ type: '*/*' }))],
  ])('gives body_not_raw with a remedy after %s', async (_parser, before) => {
    const start = startWith((app, options) => {
      before(app, options);
      app.post('/hook', webhook(options), echo);
    });
    await expectNotRaw(await started(start), /before express\.json\(\).*express\.raw\({ type: '\*\/\*' }\)/);
  });

  test('keeps the raw body from a later parser, which still parses for other routes', async () => {
    const seen: unknown[] = [];
    const start = startWith((app, options) => {
      app.use('/hook', webhook(options));
      app.use(express.json());
      app.post('/hook', (request, response) => {
        seen.push(request.body, deliveryOf(request).json());
        response.end();
      });
      app.post('/other', (request, response) => {
        seen.push(request.body);
        response.end();
      });
    });
    const errors: unknown[] = [];
    const app = await started(async (options) => {
      const receiver = await start(options);
      errors.push(...receiver.errors);
      return receiver;
    });
    expect((await app.send(Buffer.from('{"a":1}'), headersFor('{"a":1}'))).status).toBe(200);
    expect(seen).toEqual([expect.any(Uint8Array), { a: 1 }]);
    expect(errors).toEqual([]);
  });

  test('uses the rawBody that the verify option of express.json kept', async () => {
    const start = startWith((app, options) => {
      app.use(
        express.json({ verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }) }),
      );
      app.post('/hook', webhook(options), echo);
    });
    const receiver = await started(start);
    expect((await receiver.send(Buffer.from('{ }'), headersFor('{ }'))).status).toBe(200);
  });

  test('lets onError send the response', async () => {
    const codes: unknown[] = [];
    const start = startWith((app, options) =>
      app.post(
        '/hook',
        webhook<express5.Request, express5.Response>({
          ...options,
          onError: (error, request, response) => {
            codes.push((error as { code: string }).code, request.path);
            response.status(418).send('no');
          },
        }),
        echo,
      ),
    );
    const receiver = await started(start);
    const response = await receiver.send(Buffer.from('{}'), []);
    expect([response.status, response.body.toString()]).toEqual([418, 'no']);
    expect(codes).toEqual(['missing_header', '/hook']);
  });

  test('gives bad_option on a route without the middleware', async () => {
    const receiver = await started(startWith((app) => app.post('/hook', echo)));
    expect((await receiver.send(Buffer.from('{}'), headersFor('{}'))).status).toBe(500);
    expect(receiver.errors).toEqual([expect.objectContaining({ code: 'bad_option' })]);
  });
});
