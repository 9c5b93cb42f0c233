import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../clock.ts';
import { CollectedBytes } from '../../collected-bytes.ts';
import { type Strangers, watchStrangers } from '../../hub/strangers.ts';
import type { Deliveries } from './deliveries.ts';
import { maxBodyBytes, type SenderResponse } from './forward.ts';
import { cannotListen } from './receiver.ts';

/** Node closes further connections at once; each connection takes about 20 kB. */
const maxConnections = 256;

/** A sender must send the headers, and the whole request, within these times. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 60_000, connectionsCheckingInterval: 1_000 };

/** The limit for all bodies that are held at the same time. */
const maxOpenBytes = 32 * 1024 * 1024;

interface Receiver {
  url: string;
  /** Stops at once, even with open connections. */
  close(): Promise<void>;
}

function sendResponse(
  response: ServerResponse,
  { status, headers = [], body = new Uint8Array() }: SenderResponse,
): void {
  const bodiless = status === 204 || status === 304;
  const length = bodiless ? [] : ['Content-Length', String(body.length)];
  response.writeHead(status, [...headers, ...length]);
  response.end(bodiless ? undefined : body);
}

/** Responds without reading the rest of the request, and closes the connection. */
function refuseRequest(response: ServerResponse, status: number, headers: readonly string[] = []): void {
  sendResponse(response, { status, headers: [...headers, 'Connection', 'close'] });
}

/** The reasons not to read a whole body, with their status codes. */
const refusals = { too_large: 413, too_many: 503 } as const;

/** A body, or the reason for refusing it; null if the sender disconnected. */
type ReceivedBody = { body: Uint8Array } | { refused: keyof typeof refusals; bytes: number } | null;

/** @param reserve reserves bytes out of the limit for all requests, or returns false */
async function receiveBody(
  request: IncomingMessage,
  reserve: (bytes: number) => boolean,
): Promise<ReceivedBody> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBodyBytes) return { refused: 'too_large', bytes: declared };
  const body = new CollectedBytes(maxBodyBytes, declared);
  try {
    // Keep the socket open for the response.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = body.length + chunk.length;
      if (!body.add(chunk)) return { refused: 'too_large', bytes };
      if (!reserve(chunk.length)) return { refused: 'too_many', bytes };
    }
  } catch {
    return null;
  }
  return { body: body.bytes() };
}

/** Handles each request, and counts the bytes that all of them hold. */
function handler(deliveries: Deliveries) {
  let room = maxOpenBytes;
  return async (request: IncomingMessage, response: ServerResponse, strangers: Strangers): Promise<void> => {
    const { method = '', url: target = '/', httpVersion, rawHeaders } = request;
    if (deliveries.isOwn(request)) {
      deliveries.looped();
      return refuseRequest(response, 508);
    }
    if (method !== 'POST') {
      deliveries.notPosted(method);
      return refuseRequest(response, 405, ['Allow', 'POST']);
    }
    let reserved = 0;
    const reserve = (bytes: number) => {
      reserved += bytes;
      room -= bytes;
      return room >= 0;
    };
    try {
      const read = await receiveBody(request, reserve);
      if (read === null) return;
      if ('body' in read) {
        const { socket } = request;
        strangers.leave(socket);
        response.once('close', () => strangers.join(socket));
        const received = { method, target, httpVersion, rawHeaders, body: read.body };
        return sendResponse(response, await deliveries.handle(received));
      }
      const status = refusals[read.refused];
      deliveries.refused(read.refused, status, read.bytes);
      refuseRequest(response, status);
    } finally {
      room += reserved;
    }
  };
}

/** Plain HTTP, POST only. `onFault` receives unexpected errors. */
export async function receiveDeliveries(
  host: string,
  port: number,
  deliveries: Deliveries,
  clock: Clock,
  onFault: (error: unknown) => void,
): Promise<Receiver> {
  const handle = handler(deliveries);
  const server = createServer(timeouts, (request, response) => {
    response.on('error', () => {});
    handle(request, response, strangers).catch((error) => {
      response.destroy();
      onFault(error);
    });
  });
  server.maxConnections = maxConnections;
  const strangers = watchStrangers(server, clock.monotonic, (count) => deliveries.crowded(count));
  server.on('drop', strangers.sweep);
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
