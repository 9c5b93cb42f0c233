import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CollectedBytes } from '../../collected-bytes.ts';
import { ConfigError } from '../../errors.ts';
import type { Received } from './capture.ts';

/** Beyond them Node closes a connection at once; a connection takes some 20 kB. */
const mostConnections = 256;

/** What the sender gets back. Headers are names and values in turn. */
export interface Answer {
  status: number;
  headers?: readonly string[];
  body?: Uint8Array;
}

export interface Receiver {
  host: string;
  port: number;
  /** A larger body is refused before it is read to its end. */
  mostBytes: number;
  /** Bytes of all bodies that are read or answered at once; a request beyond them is refused with 503. */
  mostOpenBytes: number;
  /** Answers a POST that was read to its end. */
  onPost(received: Received): Promise<Answer>;
  /** Told of a POST that was too large, with the bytes that it had or said to have. */
  onTooLarge(bytes: number): void;
  /** Told of a POST that came while too many bytes were being read, with those that it had. */
  onBusy(bytes: number): void;
  /** Whether a connection was opened by this receiver itself; what comes over it is refused with 508. */
  isOwn(socket: Socket): boolean;
  /** Told of a request over such a connection. */
  onLoop(): void;
  /** Told of a request that is no POST. */
  onOther(method: string): void;
  /** Told of what should never happen. */
  onFault(error: unknown): void;
}

export interface Receiving {
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

/** A body, or why there is none: it is too large, there are too many at once, or the sender went away. */
type Read = { body: Uint8Array } | { refused: 'large' | 'busy'; bytes: number } | null;

/** Bytes that all requests hold. */
interface Room {
  left: number;
}

async function readBody(
  request: IncomingMessage,
  most: number,
  take: (bytes: number) => boolean,
): Promise<Read> {
  const stated = Number(request.headers['content-length'] ?? 0);
  if (stated > most) return { refused: 'large', bytes: stated };
  const body = new CollectedBytes(most, stated);
  try {
    // Left open: the answer goes over the same socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = body.length + chunk.length;
      if (!body.add(chunk)) return { refused: 'large', bytes };
      if (!take(chunk.length)) return { refused: 'busy', bytes };
    }
  } catch {
    return null;
  }
  return { body: body.bytes() };
}

async function handle(
  receiver: Receiver,
  room: Room,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url: target = '/', httpVersion, rawHeaders } = request;
  if (receiver.isOwn(request.socket)) {
    receiver.onLoop();
    return refuse(response, 508);
  }
  if (method !== 'POST') {
    receiver.onOther(method);
    return refuse(response, 405, ['Allow', 'POST']);
  }
  let taken = 0;
  const take = (bytes: number) => {
    taken += bytes;
    room.left -= bytes;
    return room.left >= 0;
  };
  try {
    const read = await readBody(request, receiver.mostBytes, take);
    if (read === null) return;
    if ('body' in read) {
      return reply(
        response,
        await receiver.onPost({ method, target, httpVersion, rawHeaders, body: read.body }),
      );
    }
    if (read.refused === 'busy') receiver.onBusy(read.bytes);
    else receiver.onTooLarge(read.bytes);
    refuse(response, read.refused === 'busy' ? 503 : 413);
  } finally {
    room.left += taken;
  }
}

function cannotListen(cause: NodeJS.ErrnoException, { host, port }: Receiver): ConfigError {
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

/** Listens for POSTs over plain HTTP. */
export async function receive(receiver: Receiver): Promise<Receiving> {
  const sockets = new Set<Socket>();
  const room: Room = { left: receiver.mostOpenBytes };
  const server = createServer((request, response) => {
    response.on('error', () => {});
    handle(receiver, room, request, response).catch((error) => {
      response.destroy();
      receiver.onFault(error);
    });
  });
  server.maxConnections = mostConnections;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(cause, receiver)));
    server.listen(receiver.port, receiver.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const { host } = receiver;
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
