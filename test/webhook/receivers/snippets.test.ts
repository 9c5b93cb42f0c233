import { createServer, type RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import express5 from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import MarkdownIt from 'markdown-it';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import * as onExpress from '../../../src/webhook/receivers/express.ts';
import * as onFastify from '../../../src/webhook/receivers/fastify.ts';
import * as onFetch from '../../../src/webhook/receivers/fetch.ts';
import * as onLambda from '../../../src/webhook/receivers/lambda.ts';
import * as onNode from '../../../src/webhook/receivers/node-http.ts';
import { textOf } from '../../docs/pages.ts';
import { headersFor, listen, post, secret } from './sending.ts';
import { express4, lambdaEvents } from './starts.ts';

/** Returns the snippet under a heading of the page as the body of a function. */
function snippetUnder(heading: string): string {
  const tokens = new MarkdownIt().parse(textOf('docs/how-to/webhooks.md'), {});
  const start = tokens.findIndex(({ content, level }) => level === 1 && content === heading);
  const fence = tokens.slice(start).find(({ type, info }) => type === 'fence' && info === 'ts');
  // The tests create the app and the server themselves.
  const code = (fence?.content ?? '').replace(/^(?:import|const app =|app\.listen).*\n/gm, '');
  return code.replace('export async', 'return async');
}

const handle = vi.fn<(event: unknown) => Promise<void>>();

function run(heading: string, names: Readonly<Record<string, unknown>>): unknown {
  const all = { process: { env: { HOOK_SECRET: secret } }, handle, ...names };
  return new Function(...Object.keys(all), snippetUnder(heading))(...Object.values(all));
}

/** Sends a body, and returns the status code. */
type Send = (body: string) => Promise<number>;

/** The snippets use the system's clock. */
const signedNow = (body: string) => headersFor(body, { timestamp: new Date().toISOString() });

async function on(listener: RequestListener): Promise<Send> {
  const url = await listen(listener);
  return async (body) => (await post(url, body, signedNow(body))).status;
}

function startExpress(express: typeof express5): Promise<Send> {
  const app = express();
  run('Express', { app, express, ...onExpress });
  return on(app);
}

const starts: Readonly<Record<string, () => Promise<Send>>> = {
  'Express 4': () => startExpress(express4),
  'Express 5': () => startExpress(express5),
  async Fastify() {
    const app = fastify();
    run('Fastify', { app, ...onFastify });
    await app.ready();
    return on(app.routing);
  },
  Hono() {
    const app = new Hono<{ Bindings: { HOOK_SECRET: string } }>();
    app.onError((_error, c) => c.body(null, 500));
    run('Fetch API: Hono, Workers, Next', { app, ...onFetch });
    return on(getRequestListener((request) => app.fetch(request, { HOOK_SECRET: secret })));
  },
  'node:http'() {
    const server = createServer();
    const create = (listener: RequestListener) => {
      server.on('request', listener);
      return { listen: () => undefined };
    };
    run('node:http', { createServer: create, ...onNode });
    return on((request, response) => server.emit('request', request, response));
  },
  async Lambda() {
    const handler = run('Lambda', onLambda) as (event: unknown) => Promise<{ statusCode: number }>;
    const make = lambdaEvents['an HTTP API or a function URL'];
    // A function URL responds 500 if the function throws.
    return (body) =>
      handler(make(signedNow(body), body)).then(
        ({ statusCode }) => statusCode,
        () => 500,
      );
  },
};

describe.each(Object.entries(starts))('the snippet for %s', (_name, start) => {
  const logged = vi.spyOn(console, 'error');
  beforeEach(() => {
    logged.mockReset();
    handle.mockReset().mockResolvedValue();
  });

  test('handles the event, and responds 204', async () => {
    const send = await start();
    expect(await send('{"event":"run.completed"}')).toBe(204);
    expect(handle.mock.calls).toEqual([[{ event: 'run.completed' }]]);
    expect(logged).not.toHaveBeenCalled();
  });

  test('responds 500 if the handler fails, and keeps running', async () => {
    const send = await start();
    handle.mockRejectedValueOnce(new Error('of the handler'));
    expect([await send('{}'), await send('{}')]).toEqual([500, 204]);
  });
});
