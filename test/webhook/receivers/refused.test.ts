import { connect } from 'node:net';
import express5 from 'express';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as onExpress from '../../../src/webhook/receivers/express.ts';
import * as onFastify from '../../../src/webhook/receivers/fastify.ts';
import { at, headersFor, listen, now, post, secret } from './sending.ts';
import { express4 } from './starts.ts';

/** Only Express passes `next`. */
type OnError = (respond: () => unknown, next?: (value?: unknown) => void) => unknown;

/** The mistakes and habits of an `onError`. */
const behaviours: Readonly<Record<string, OnError>> = {
  'returns a promise of nothing': async () => {},
  'throws undefined': () => {
    throw undefined;
  },
  'rejects with undefined': () => Promise.reject(),
  'rejects with the word route': () => Promise.reject('route'),
  'calls next()': (_respond, next) => next?.(),
  "calls next('route')": (_respond, next) => next?.('route'),
  'responds, then calls next()': (respond, next) => {
    respond();
    next?.();
  },
  'responds, then rejects': (respond) => {
    respond();
    return Promise.reject(new Error('of onError'));
  },
};

interface Given {
  onError: OnError;
  now(): Date;
  handled(): void;
}
/** Starts an app, and returns the URL of its receiver. */
type Start = (given: Given) => Promise<string>;

const onExpressOf =
  (express: typeof express5, mount: 'post' | 'use'): Start =>
  ({ handled, onError, ...options }) => {
    const app = express();
    const router = express.Router();
    const handler: express5.RequestHandler = (_request, response) => {
      handled();
      response.end();
    };
    const receiver = onExpress.webhook<express5.Request, express5.Response>({
      ...options,
      secrets: secret,
      onError: (_error, _request, response, next) => onError(() => response.status(418).end(), next),
    });
    router[mount]('/hook', receiver);
    router.post('/hook', handler);
    app.use(router);
    app.post('/hook', handler);
    const failed: express5.ErrorRequestHandler = (_error, _request, response, _next) => {
      response.status(500).end();
    };
    app.use(failed);
    return listen(app);
  };

const onFastifyWith =
  (more: (scope: FastifyInstance) => unknown): Start =>
  async ({ handled, onError, ...options }) => {
    const app = fastify();
    app.register(async (scope) => {
      more(scope);
      onFastify.webhook(scope, {
        ...options,
        secrets: secret,
        onError: (_error, _request, reply) => onError(() => reply.code(418).send()),
      });
      scope.post('/hook', async () => {
        handled();
        return '';
      });
    });
    await app.ready();
    return listen(app.routing);
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

const forged = '{"forged":true}';
const authentic = '{"authentic":true}';

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
  beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
  afterEach(() => void vi.restoreAllMocks());

  async function started(onError: OnError, time = now) {
    const handled = vi.fn();
    const url = await start({ onError, now: time, handled });
    /** Expects that only this authentic delivery reaches the handler. */
    const onlyAuthentic = async () => {
      await vi.waitFor(async () => {
        expect((await post(url, authentic, headersFor(authentic))).status).toBe(200);
      });
      expect(handled).toHaveBeenCalledOnce();
    };
    return { url, onlyAuthentic };
  }

  test.each(Object.entries(behaviours))(
    'a refused delivery never reaches the handler if onError %s, also if the sender leaves',
    async (_what, behave) => {
      const reported: (() => void)[] = [];
      const nextReport = () => new Promise<void>((resolve) => reported.push(resolve));
      const { url, onlyAuthentic } = await started((...reach) => {
        for (const report of reported.splice(0)) report();
        return behave(...reach);
      });
      await sendAndLeave(url, nextReport());
      const refused = nextReport();
      void post(url, forged, [['X-Service-Timestamp', at]]).catch(() => undefined);
      await refused;
      await onlyAuthentic();
    },
  );

  test('a delivery does not reach the handler if an option throws undefined', async () => {
    const time = vi.fn(now).mockImplementationOnce(() => {
      throw undefined;
    });
    const reported = vi.fn<OnError>((_respond, next) => next?.());
    const { url, onlyAuthentic } = await started(reported, time);
    void post(url, authentic, headersFor(authentic)).catch(() => undefined);
    await vi.waitFor(() => expect(reported).toHaveBeenCalledOnce());
    await onlyAuthentic();
  });
});
