import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { httpUrl, listen } from '../../listen.ts';
import { readStream } from '../../webhook/receivers/incoming.ts';
import { statusOf } from '../../webhook/receivers/public.ts';
import type { HeaderPairs } from './capture.ts';
import type { Deliveries } from './deliveries.ts';
import { type Answer, maxBodyBytes } from './forward.ts';

/** Node closes further connections at once; each may hold a body of 10 MiB. */
const maxConnections = 64;

/** A sender must send the headers, and the whole request, within these times. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 60_000, connectionsCheckingInterval: 1_000 };

/** For a response without reading the rest of the request. */
const closing = ['Connection', 'close'];

function sendResponse(
  response: ServerResponse,
  { status, body = new Uint8Array() }: Answer,
  headers: readonly string[] = [],
): void {
  const bodiless = status === 204 || status === 304;
  const length = bodiless ? [] : ['Content-Length', String(body.length)];
  response.writeHead(status, [...headers, ...length]);
  response.end(bodiless ? undefined : body);
}

function headersOf({ rawHeaders }: IncomingMessage): HeaderPairs {
  const names = rawHeaders.filter((_text, index) => index % 2 === 0);
  return names.map((name, index) => [name, rawHeaders[index * 2 + 1] ?? '']);
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  deliveries: Deliveries,
): Promise<void> {
  const { method = '', url: target = '/', httpVersion } = request;
  if (method !== 'POST') {
    deliveries.notPosted(method);
    return sendResponse(response, { status: 405 }, ['Allow', 'POST', ...closing]);
  }
  const headers = headersOf(request);
  let body: Uint8Array;
  try {
    body = await readStream(request, maxBodyBytes, 'the body is read here');
  } catch (error) {
    const status = statusOf(error);
    if (status !== 413) return;
    deliveries.tooLarge(status, Number(request.headers['content-length'] ?? maxBodyBytes + 1));
    return sendResponse(response, { status }, closing);
  }
  sendResponse(response, await deliveries.handle({ method, target, httpVersion, headers, body }));
}

/**
 * Plain HTTP, POST only.
 * @param onFault receives unexpected errors
 * @returns the URL, and a function that stops at once, even with open connections
 */
export async function receiveDeliveries(
  host: string,
  port: number,
  deliveries: Deliveries,
  onFault: (error: unknown) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(timeouts, (request, response) => {
    response.on('error', () => {});
    handle(request, response, deliveries).catch((error) => {
      response.destroy();
      onFault(error);
    });
  });
  server.maxConnections = maxConnections;
  const bound = await listen(server, host, port);
  return {
    url: httpUrl(host, bound.port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
