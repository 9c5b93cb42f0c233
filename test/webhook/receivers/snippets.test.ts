import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { getRequestListener } from '@hono/node-server';
import express5 from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import MarkdownIt from 'markdown-it';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as onExpress from '../../../src/webhook/receivers/express.ts';
import * as onFastify from '../../../src/webhook/receivers/fastify.ts';
import * as onFetch from '../../../src/webhook/receivers/fetch.ts';
import * as onLambda from '../../../src/webhook/receivers/lambda.ts';
import * as onNode from '../../../src/webhook/receivers/node-http.ts';
import { textOf } from '../../docs/pages.ts';
import { urlEvent } from './lambda-events.ts';
import { headersFor, listen, post, type ReceivedResponse, secret } from './suite.ts';

/** Returns the snippet under a heading of the page as the body of a function. */
function snippetUnder(heading: string): string {
  const tokens = new MarkdownIt().parse(textOf('docs/how-to/webhooks.md'), {});
  const start = tokens.findIndex(({ content, level }) => level === 1 && content === heading);
  const fence = tokens.slice(start).find(({ type, info }) => type === 'fence' && info === 'ts');
  // The tests create the app and the server themselves.
  const code = (fence?.content ?? '').replace(/^(?:import|const app =|app\.listen).*\n/gm, '');
  return code.replace('export async', 'return async');
}

const environment = { env: { HOOK_SECRET: secret } };
let close: () => Promise<unknown>;
let handled: unknown[];
let handle: (event: unknown) => Promise<void>;

function run(heading: string, names: Readonly<Record<string, unknown>>): unknown {
  const all = { process: environment, handle: (event: unknown) => handle(event), ...names };
  return new Function(...Object.keys(all), snippetUnder(heading))(...Object.values(all));
}

type Send = (body: string) => Promise<ReceivedResponse>;

async function on(listener: Parameters<typeof listen>[0]): Promise<Send> {
  const server = await listen(listener);
  close = server.close;
  return (body) => post(server.url, Buffer.from(body), headersFor(body, { timestamp: nowText() }));
}

/** The snippets use the system's clock. */
const nowText = () => new Date().toISOString();

function startExpress(express: typeof express5): Promise<Send> {
  const app = express();
  run('Express', { app, express, ...onExpress });
  return on(app);
}

const starts: [string, () => Promise<Send>][] = [
  ['Express 4', () => startExpress(createRequire(import.meta.url)('express4'))],
  ['Express 5', () => startExpress(express5)],
  [
    'Fastify',
    async () => {
      const app = fastify({ forceCloseConnections: true });
      run('Fastify', { app, ...onFastify });
      await app.ready();
      return on(app.routing);
    },
  ],
  [
    'Hono',
    () => {
      const app = new Hono<{ Bindings: { HOOK_SECRET: string } }>();
      app.onError((_error, c) => c.body(null, 500));
      run('Fetch API: Hono, Workers, Next', { app, ...onFetch });
      return on(getRequestListener((request) => app.fetch(request, { HOOK_SECRET: secret })));
    },
  ],
  [
    'node:http',
    () => {
      let server: ReturnType<typeof createServer> | undefined;
      const create = (listener: Parameters<typeof createServer>[1]) => {
        server = createServer(listener);
        return { listen: () => undefined };
      };
      run('node:http', { createServer: create, ...onNode });
      return on((request, response) => server?.emit('request', request, response));
    },
  ],
  [
    'Lambda',
    async () => {
      const handler = run('Lambda', onLambda) as (event: unknown) => Promise<{ statusCode: number }>;
      close = async () => undefined;
      return async (body) => {
        const headers = headersFor(body, { timestamp: nowText() });
        // A function URL responds 500 if the function throws.
        const status = await handler(urlEvent(headers, { body, isBase64Encoded: false })).then(
          ({ statusCode }) => statusCode,
          () => 500,
        );
        return { status, body: Buffer.alloc(0) };
      };
    },
  ],
];

describe.each(starts)('the snippet for %s', (_name, start) => {
  const logged = vi.spyOn(console, 'error');
  beforeEach(() => {
    logged.mockReset();
    handled = [];
    handle = async (event) => {
      handled.push(event);
    };
  });
  afterEach(() => close());

  test('handles the event, and responds 204', async () => {
    const send = await start();
    expect((await send('{"event":"run.completed"}')).status).toBe(204);
    expect(handled).toEqual([{ event: 'run.completed' }]);
    expect(logged).not.toHaveBeenCalled();
  });

  test('responds 500 if the handler fails, and keeps running', async () => {
    const send = await start();
    handle = () => Promise.reject(new Error('of the handler'));
    expect((await send('{}')).status).toBe(500);
    handle = async () => undefined;
    expect((await send('{}')).status).toBe(204);
  });
});
