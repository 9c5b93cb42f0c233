import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { getRequestListener } from '@hono/node-server';
import express5 from 'express';
import fastify, { type FastifyInstance } from 'fastify';
import { type Context, Hono } from 'hono';
import * as onExpress from '../../../src/webhook/receivers/express.ts';
import * as onFastify from '../../../src/webhook/receivers/fastify.ts';
import * as onFetch from '../../../src/webhook/receivers/fetch.ts';
import * as onLambda from '../../../src/webhook/receivers/lambda.ts';
import * as onNode from '../../../src/webhook/receivers/node-http.ts';
import type { Delivery, ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { statusOf } from '../../../src/webhook/receivers/public.ts';
import { listen, type Pairs, post, type ReceivedResponse } from './sending.ts';

export const express4 = createRequire(import.meta.url)('express4') as typeof express5;

/** A receiver with one route that responds 200 with the bytes of the delivery. */
export interface Receiver {
  send(body: Uint8Array | string, headers: Pairs): Promise<ReceivedResponse>;
  /** The errors that the app gets to see. */
  errors: unknown[];
}

export type Start = (options: ReceiveOptions) => Promise<Receiver>;

async function answer(received: Promise<Delivery>, errors: unknown[]): Promise<ReceivedResponse> {
  try {
    return { status: 200, body: Buffer.from((await received).bytes) };
  } catch (error) {
    if (statusOf(error) === 500) errors.push(error);
    return { status: statusOf(error), body: Buffer.alloc(0) };
  }
}

function receiverAt(url: string, errors: unknown[]): Receiver {
  return { send: (body, headers) => post(url, body, headers), errors };
}

export const echo: express5.RequestHandler = (request, response) => {
  response.end(onExpress.deliveryOf(request).bytes);
};

export function withExpress(
  express: typeof express5,
  mount: (app: express5.Express, options: ReceiveOptions) => unknown = (app, options) =>
    app.post('/hook', onExpress.webhook(options), echo),
): Start {
  return async (options) => {
    const errors: unknown[] = [];
    const app = express();
    mount(app, options);
    const onError: express5.ErrorRequestHandler = (error, _request, response, _next) => {
      errors.push(error);
      response.status(statusOf(error)).end();
    };
    app.use(onError);
    return receiverAt(await listen(app), errors);
  };
}

export function withFastify(
  mount: (scope: FastifyInstance, options: ReceiveOptions) => unknown = onFastify.webhook,
): Start {
  return async (options) => {
    const errors: unknown[] = [];
    const app = fastify();
    app.setErrorHandler((error, _request, reply) => {
      if ((error as { code?: string }).code === 'FST_ERR_CTP_BODY_TOO_LARGE') return reply.code(413).send();
      errors.push(error);
      return reply.code(statusOf(error)).send();
    });
    app.register(async (scope) => {
      mount(scope, options);
      scope.post('/hook', async (request) => Buffer.from(onFastify.deliveryOf(request).bytes));
    });
    await app.ready();
    return receiverAt(await listen(app.routing), errors);
  };
}

export function withHono(before: (context: Context) => unknown = () => {}): Start {
  return async (options) => {
    const errors: unknown[] = [];
    const app = new Hono();
    app.post('/hook', async (context) => {
      await before(context);
      const { status, body } = await answer(onFetch.receive(context.req.raw, options), errors);
      return new Response(new Uint8Array(body), { status });
    });
    return receiverAt(await listen(getRequestListener(app.fetch)), errors);
  };
}

export function withNode(before: (request: IncomingMessage) => unknown = () => {}): Start {
  return async (options) => {
    const errors: unknown[] = [];
    const url = await listen(async (request, response) => {
      await before(request);
      const { status, body } = await answer(onNode.receive(request, options), errors);
      response.writeHead(status).end(body);
    });
    return receiverAt(url, errors);
  };
}

/** Calls `receive` with a bare Request, as in Workers, Deno, Bun and Next. */
const withRequest: Start = async (options) => {
  const errors: unknown[] = [];
  const send = (body: Uint8Array | string, headers: Pairs) => {
    const init = { method: 'POST', headers: headers.map(([name, value]): [string, string] => [name, value]) };
    const request = new Request('https://example.test/hook', { ...init, body: Buffer.from(body) });
    return answer(onFetch.receive(request, options), errors);
  };
  return { send, errors };
};

/** @param make returns the event of a body, null for an empty one */
export function withLambda(
  make: (pairs: Pairs, body: string | null) => object,
  after: (event: onLambda.LambdaEvent) => onLambda.LambdaEvent = (event) => event,
): Start {
  return async (options) => {
    const errors: unknown[] = [];
    const send = (body: Uint8Array | string, pairs: Pairs) => {
      const bytes = Buffer.from(body);
      // Binary bodies are base64: from function URLs always, from API Gateway if the media type is configured as binary.
      const isBase64Encoded = !Buffer.from(bytes.toString()).equals(bytes);
      const text = bytes.toString(isBase64Encoded ? 'base64' : 'utf8');
      const event = after({ ...make(pairs, text === '' ? null : text), isBase64Encoded });
      return answer(onLambda.receive(event, options), errors);
    };
    return { send, errors };
  };
}

function grouped(pairs: Pairs): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (const [name, value] of pairs) groups[name] = [...(groups[name] ?? []), value];
  return groups;
}
const lower = (pairs: Pairs): Pairs => pairs.map(([name, value]) => [name.toLowerCase(), value]);
const mapped = (pairs: Pairs, one: (values: string[]) => string | undefined) =>
  Object.fromEntries(Object.entries(grouped(pairs)).map(([name, values]) => [name, one(values)]));

/**
 * The HTTP events of Lambda, made by hand after AWS's developer guides: "Input format of a Lambda function for proxy
 * integration" (REST APIs), "Create AWS Lambda proxy integrations for HTTP APIs" (payload 2.0, also for function URLs), "Use
 * Lambda functions as targets of an Application Load Balancer".
 */
export const lambdaEvents = {
  'a REST API': (pairs: Pairs, body: string | null) => ({
    resource: '/hook',
    httpMethod: 'POST',
    headers: mapped(pairs, (values) => values.at(-1)),
    multiValueHeaders: grouped(pairs),
    body,
  }),
  'an HTTP API or a function URL': (pairs: Pairs, body: string | null) => ({
    version: '2.0',
    headers: mapped(lower(pairs), (values) => values.join(',')),
    ...(body === null ? {} : { body }),
  }),
  'a load balancer': (pairs: Pairs, body: string | null) => ({
    httpMethod: 'POST',
    multiValueHeaders: grouped(lower(pairs)),
    body: body ?? '',
  }),
};

/** Every receiver with its route, and nothing else in its app. */
export const starts: Readonly<Record<string, Start>> = {
  'Express 4': withExpress(express4),
  'Express 5': withExpress(express5),
  Fastify: withFastify(),
  Hono: withHono(),
  'a bare Request': withRequest,
  'node:http': withNode(),
  ...Object.fromEntries(
    Object.entries(lambdaEvents).map(([name, make]) => [`Lambda behind ${name}`, withLambda(make)]),
  ),
};
