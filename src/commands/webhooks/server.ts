import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CollectedBytes } from '../../collected-bytes.ts';
import { ConfigError } from '../../errors.ts';
import type { Deliveries } from './deliveries.ts';
import { type Answer, mostBytes } from './forward.ts';

/** Beyond them Node closes a connection at once; a connection takes some 20 kB. */
const mostConnections = 256;

/** Of all bodies that are read or sent on at once. */
const mostOpenBytes = 32 * 1024 * 1024;

interface Receiving {
  port: number;
  url: string;
  /** Stops at once: nobody can keep it open. */
  close(): Promise<void>;
}

function reply(response: ServerResponse, { status, headers = [], body = new Uint8Array() }: Answer): void {
  const bodiless = status === 204 || status === 304;
  const length = bodiless ? [] : ['Content-Length', String(body.length)];
  response.writeHead(status, [...headers, ...length]);
  response.end(bodiless ? undefined : body);
}

/** Answers without reading on, and lets the connection go. */
function refuse(response: ServerResponse, status: number, headers: readonly string[] = []): void {
  reply(response, { status, headers: [...headers, 'Connection', 'close'] });
}

/** Why a body is not read to its end, and the status for it. */
const refusals = { too_large: 413, too_many: 503 } as const;

/** A body, or why there is none; null when the sender went away. */
type Read = { body: Uint8Array } | { refused: keyof typeof refusals; bytes: number } | null;

/** @param take takes room for so many bytes among those of all requests, or returns false */
async function readBody(request: IncomingMessage, take: (bytes: number) => boolean): Promise<Read> {
  const stated = Number(request.headers['content-length'] ?? 0);
  if (stated > mostBytes) return { refused: 'too_large', bytes: stated };
  const body = new CollectedBytes(mostBytes, stated);
  try {
    // Left open: the answer goes over the same socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = body.length + chunk.length;
      if (!body.add(chunk)) return { refused: 'too_large', bytes };
      if (!take(chunk.length)) return { refused: 'too_many', bytes };
    }
  } catch {
    return null;
  }
  return { body: body.bytes() };
}

/** Answers each request, and counts the bytes that all of them hold. */
function handler(deliveries: Deliveries) {
  let room = mostOpenBytes;
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: target = '/', httpVersion, rawHeaders } = request;
    if (deliveries.isOwn(request.socket)) {
      deliveries.looped();
      return refuse(response, 508);
    }
    if (method !== 'POST') {
      deliveries.notPosted(method);
      return refuse(response, 405, ['Allow', 'POST']);
    }
    let taken = 0;
    const take = (bytes: number) => {
      taken += bytes;
      room -= bytes;
      return room >= 0;
    };
    try {
      const read = await readBody(request, take);
      if (read === null) return;
      if ('body' in read) {
        const received = { method, target, httpVersion, rawHeaders, body: read.body };
        return reply(response, await deliveries.answer(received));
      }
      const status = refusals[read.refused];
      deliveries.refused(read.refused, status, read.bytes);
      refuse(response, status);
    } finally {
      room += taken;
    }
  };
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): ConfigError {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'it is already taken',
    EACCES: 'it is not allowed',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'there is no such host',
  };
  const reason = reasons[cause.code ?? ''] ?? cause.code;
  return new ConfigError(`cannot listen on port ${port} of ${host}: ${reason}`, {
    hint: 'choose another --port, or --port 0 for any that is free; --host takes an address of this machine',
    cause,
  });
}

/**
 * Listens for POSTs over plain HTTP.
 * @param onFault told of what should never happen
 */
export async function receive(
  host: string,
  port: number,
  deliveries: Deliveries,
  onFault: (error: unknown) => void,
): Promise<Receiving> {
  const handle = handler(deliveries);
  const server = createServer((request, response) => {
    response.on('error', () => {});
    handle(request, response).catch((error) => {
      response.destroy();
      onFault(error);
    });
  });
  server.maxConnections = mostConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(cause, host, port)));
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    port: bound,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
