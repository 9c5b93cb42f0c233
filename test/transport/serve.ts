import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Which connection it came over, counted from 1. */
  connection: number;
}

export interface TestServer {
  url: string;
  seen: Seen[];
}

export interface Scene {
  seen: Seen;
  /** How many requests came before this one. */
  index: number;
  request: IncomingMessage;
  response: ServerResponse;
  socket: Socket;
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** A server on a free port that ends with the test. */
export async function serve(answer: (scene: Scene) => void): Promise<TestServer> {
  const seen: Seen[] = [];
  const connections = new Map<Socket, number>();
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one: Seen = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        connection: connections.get(request.socket) ?? 0,
      };
      seen.push(one);
      answer({ seen: one, index: seen.length - 1, request, response, socket: request.socket });
    });
  };
  const server = createServer(listener);
  server.on('connection', (socket) => connections.set(socket, connections.size + 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** The address of a port on which nobody listens. */
export async function nobody(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
