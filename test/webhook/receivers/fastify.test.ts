import fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { deliveryOf, statusOf, webhook } from '../../../src/webhook/receivers/fastify.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { expectNotRaw, headersFor, post, type Receiver, started, testReceiver } from './suite.ts';

type Mount = (app: FastifyInstance, options: ReceiveOptions) => unknown;

function startWith(mount: Mount) {
  return async (options: ReceiveOptions): Promise<Receiver> => {
    const errors: unknown[] = [];
    const app = fastify({ forceCloseConnections: true });
    app.setErrorHandler((error, _request, reply) => {
      if ((error as { code?: string }).code === 'FST_ERR_CTP_BODY_TOO_LARGE') return reply.send(error);
      errors.push(error);
      return reply.code(statusOf(error)).send();
    });
    mount(app, options);
    const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`;
    return { send: (body, headers) => post(url, body, headers), errors, close: () => app.close() };
  };
}

const inScope =
  (more?: (scope: FastifyInstance) => unknown): Mount =>
  (app, options) =>
    app.register(async (scope) => {
      webhook(scope, options);
      more?.(scope);
      scope.post('/hook', async (request) => Buffer.from(deliveryOf(request).bytes));
    });

testReceiver('Fastify', startWith(inScope()));

describe('Fastify', () => {
  const closing = async (receiver: Receiver, work: () => Promise<unknown>) => {
    await work();
    await receiver.close();
  };

  test('gives body_not_raw with a remedy in a scope with its own content type parser', async () => {
    const receiver = await started(
      startWith(
        inScope((scope) =>
          scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
            done(null, JSON.parse(String(body))),
          ),
        ),
      ),
    );
    await closing(receiver, () => expectNotRaw(receiver, /add no content type parser/));
  });

  test('verifies before validation, and keeps the parsers of the rest of the app', async () => {
    const app = fastify({ forceCloseConnections: true });
    app.post('/other', async (request) => ({ parsed: request.body }));
    app.register(async (scope) => {
      webhook(scope, { secrets: 'k', maxAge: null });
      const headers = { type: 'object', required: ['x-other'] };
      scope.post('/strict', { schema: { headers } }, async () => 'never');
      scope.post('/hook', async (request) => deliveryOf(request).json());
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const other = await post(`${url}/other`, Buffer.from('{"a":1}'), []);
    expect(JSON.parse(other.body.toString())).toEqual({ parsed: { a: 1 } });
    const hook = await post(`${url}/hook`, Buffer.from('{"b":2}'), headersFor('{"b":2}', { key: 'k' }));
    expect(JSON.parse(hook.body.toString())).toEqual({ b: 2 });
    const strict = await post(`${url}/strict`, Buffer.from('{"b":2}'), []);
    expect([strict.status, strict.body.toString()]).toEqual([400, '']);
    await app.close();
  });

  test('lets onError send the response', async () => {
    const receiver = await started(
      startWith((app, options) =>
        app.register(async (scope) => {
          webhook(scope, { ...options, onError: (_error, _request, reply) => reply.code(418).send() });
          scope.post('/hook', async () => 'never');
        }),
      ),
    );
    await closing(receiver, async () =>
      expect((await receiver.send(Buffer.from('{}'), [])).status).toBe(418),
    );
  });
});
