import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ConfigError } from '../errors.ts';
import type { Received } from './webhooks-capture.ts';

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
  /** Answers a POST that was read to its end. */
  onPost(received: Received): Promise<Answer>;
  /** Told of a POST that was too large, with the bytes that it had or said to have. */
  onTooLarge(bytes: number): void;
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

/** The body, or how large it is or says to be when that is too much; null when the sender went away. */
async function readBody(request: IncomingMessage, most: number): Promise<Uint8Array | number | null> {
  const stated = Number(request.headers['content-length'] ?? 0);
  if (stated > most) return stated;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Left open: the answer goes over the same socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > most) return size;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}

async function handle(receiver: Receiver, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url: target = '/', httpVersion, rawHeaders } = request;
  if (method !== 'POST') {
    receiver.onOther(method);
    return refuse(response, 405, ['Allow', 'POST']);
  }
  const body = await readBody(request, receiver.mostBytes);
  if (body === null) return;
  if (typeof body === 'number') {
    receiver.onTooLarge(body);
    return refuse(response, 413);
  }
  reply(response, await receiver.onPost({ method, target, httpVersion, rawHeaders, body }));
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
  const server = createServer((request, response) => {
    response.on('error', () => {});
    handle(receiver, request, response).catch((error) => {
      response.destroy();
      receiver.onFault(error);
    });
  });
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
