import { createRequire } from 'node:module';
import { connect } from 'node:net';
import express5 from 'express';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as onExpress from '../../../src/webhook/receivers/express.ts';
import * as onFastify from '../../../src/webhook/receivers/fastify.ts';
import { at, headersFor, listen, post, secret } from './suite.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express5;

/** The arguments of `onError` besides the error: only Express passes `next`. */
interface Reach {
  respond?: () => unknown;
  next?: (value?: unknown) => void;
}
type OnError = (reach: Reach) => unknown;

/** The mistakes and habits of an `onError`. */
const behaviours: Readonly<Record<string, OnError>> = {
  'returns a promise of nothing': async () => {},
  'throws undefined': () => {
    throw undefined;
  },
  'rejects with undefined': () => Promise.reject(),
  'rejects with the word route': () => Promise.reject('route'),
  'calls next()': ({ next }) => next?.(),
  "calls next('route')": ({ next }) => next?.('route'),
  'responds, then calls next()': ({ respond, next }) => {
    respond?.();
    next?.();
  },
  'responds, then rejects': async ({ respond }) => {
    respond?.();
    throw new Error('of onError');
  },
};

interface App {
  url: string;
  close(): Promise<unknown>;
}
interface Given {
  secrets: string;
  now(): Date;
}
type Start = (given: Given, onError: OnError, handled: (body: unknown) => void) => Promise<App>;

const onExpressOf =
  (express: typeof express5, mount: 'post' | 'use'): Start =>
  async (given, onError, handled) => {
    const app = express();
    const router = express.Router();
    const options = {
      ...given,
      onError: (_e: unknown, _q: unknown, response: express5.Response, next: (value?: unknown) => void) =>
        onError({ respond: () => response.status(418).end(), next }),
    };
    router[mount]('/hook', onExpress.webhook<express5.Request, express5.Response>(options));
    router.post('/hook', (request, response) => {
      handled(request.body);
      response.end();
    });
    app.use(router);
    app.post('/hook', (request, response) => {
      handled(request.body);
      response.end();
    });
    app.use(((_error, _request, response, _next) => {
      response.status(500).end();
    }) as express5.ErrorRequestHandler);
    return listen(app);
  };

const onFastifyWith =
  (more: (scope: FastifyInstance) => unknown): Start =>
  async (given, onError, handled) => {
    const app = fastify({ forceCloseConnections: true });
    app.register(async (scope) => {
      more(scope);
      onFastify.webhook(scope, {
        ...given,
        onError: (_error, _request, reply) => onError({ respond: () => reply.code(418).send() }),
      });
      scope.post('/hook', async (request) => {
        handled(request.body);
        return '';
      });
    });
    return { url: `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`, close: () => app.close() };
  };

const apps: Readonly<Record<string, Start>> = {
  'Express 5': onExpressOf(express5, 'post'),
  'Express 4 with use()': onExpressOf(express4, 'use'),
  Fastify: onFastifyWith(() => {}),
  'Fastify with an asynchronous onSend hook': onFastifyWith((scope) =>
    scope.addHook('onSend', async (_request, _reply, payload) => {
      await new Promise(setImmediate);
      return payload;
    }),
  ),
};

const forged = Buffer.from('{"forged":true}');
const authentic = Buffer.from('{"authentic":true}');
const given: Given = { secrets: secret, now: () => new Date(at) };

/** Sends a forged delivery, and breaks the connection once `reported` says that it was refused. */
function sendAndLeave(url: string, reported: Promise<unknown>): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      const head = `POST /hook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${forged.length}`;
      socket.write(`${head}\r\n\r\n${forged}`);
    });
    void reported.then(() => socket.destroy());
    socket.on('close', () => resolve()).on('error', () => {});
  });
}

describe.each(Object.entries(apps))('%s', (_name, start) => {
  const closers: (() => Promise<unknown>)[] = [];
  beforeEach(() => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const close of closers.splice(0)) await close();
  });

  async function started(options: Given, onError: OnError) {
    const handled: unknown[] = [];
    const app = await start(options, onError, (body) => handled.push(body));
    closers.push(app.close);
    /** Returns the number of deliveries that reached the handler, once an authentic one has. */
    const count = async () => {
      await vi.waitFor(async () => {
        const { status } = await post(app.url, authentic, headersFor(authentic));
        expect(status).toBe(200);
      });
      return handled.length;
    };
    return { url: app.url, count };
  }

  test.each(Object.entries(behaviours))(
    'a refused delivery never reaches the handler if onError %s, also if the sender leaves',
    async (_what, behave) => {
      const reported: (() => void)[] = [];
      const app = await started(given, (reach) => {
        for (const report of reported.splice(0)) report();
        return behave(reach);
      });
      await sendAndLeave(app.url, new Promise<void>((resolve) => reported.push(resolve)));
      const refused = new Promise<void>((resolve) => reported.push(resolve));
      void post(app.url, forged, [['X-Service-Timestamp', at]]).catch(() => undefined);
      await refused;
      expect(await app.count()).toBe(1);
    },
  );

  test('a delivery does not reach the handler if an option throws undefined', async () => {
    const thrown = vi
      .fn<() => Date>(() => new Date(at))
      .mockImplementationOnce(() => {
        throw undefined;
      });
    const reported = vi.fn<OnError>(({ next }) => next?.());
    const app = await started({ ...given, now: thrown }, reported);
    void post(app.url, authentic, headersFor(authentic)).catch(() => undefined);
    await vi.waitFor(() => expect(reported).toHaveBeenCalledOnce());
    expect(await app.count()).toBe(1);
  });
});
