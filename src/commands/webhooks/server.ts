import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CollectedBytes } from '../../collected-bytes.ts';
import type { Deliveries } from './deliveries.ts';
import { maxBodyBytes, type SenderResponse } from './forward.ts';
import { cannotListen } from './receiver.ts';

/** Node closes further connections at once; each may hold a body of 10 MiB. */
const maxConnections = 64;

/** A sender must send the headers, and the whole request, within these times. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 60_000, connectionsCheckingInterval: 1_000 };

/** For a response without reading the rest of the request. */
const closing = ['Connection', 'close'];

interface Receiver {
  url: string;
  /** Stops at once, even with open connections. */
  close(): Promise<void>;
}

function sendResponse(
  response: ServerResponse,
  { status, body = new Uint8Array() }: SenderResponse,
  headers: readonly string[] = [],
): void {
  const bodiless = status === 204 || status === 304;
  const length = bodiless ? [] : ['Content-Length', String(body.length)];
  response.writeHead(status, [...headers, ...length]);
  response.end(bodiless ? undefined : body);
}

/** Returns the body, or the number of bytes of one that is too large; null if the sender disconnected. */
async function receiveBody(request: IncomingMessage): Promise<Uint8Array | number | null> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBodyBytes) return declared;
  const body = new CollectedBytes(maxBodyBytes, declared);
  try {
    // Keep the socket open for the response.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (!body.add(chunk)) return body.length + chunk.length;
    }
  } catch {
    return null;
  }
  return body.bytes();
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  deliveries: Deliveries,
): Promise<void> {
  const { method = '', url: target = '/', httpVersion, rawHeaders } = request;
  if (method !== 'POST') {
    deliveries.notPosted(method);
    return sendResponse(response, { status: 405 }, ['Allow', 'POST', ...closing]);
  }
  const body = await receiveBody(request);
  if (body === null) return;
  if (typeof body === 'number') {
    deliveries.tooLarge(413, body);
    return sendResponse(response, { status: 413 }, closing);
  }
  sendResponse(response, await deliveries.handle({ method, target, httpVersion, rawHeaders, body }));
}

/** Plain HTTP, POST only. `onFault` receives unexpected errors. */
export async function receiveDeliveries(
  host: string,
  port: number,
  deliveries: Deliveries,
  onFault: (error: unknown) => void,
): Promise<Receiver> {
  const server = createServer(timeouts, (request, response) => {
    response.on('error', () => {});
    handle(request, response, deliveries).catch((error) => {
      response.destroy();
      onFault(error);
    });
  });
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(cause, host, port)));
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
