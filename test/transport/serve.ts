import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { freePort } from '../free-port.ts';
import { listen } from '../listen.ts';

export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** The number of its connection, counted from 1. */
  connection: number;
}

export interface TestServer {
  url: string;
  seen: ReceivedRequest[];
}

export interface Scene {
  seen: ReceivedRequest;
  /** The number of requests before this one. */
  index: number;
  request: IncomingMessage;
  response: ServerResponse;
  socket: Socket;
}

/** Sends a JSON response. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Starts a server on a free port that is closed after the test. */
export async function serve(respond: (scene: Scene) => void): Promise<TestServer> {
  const seen: ReceivedRequest[] = [];
  const connections = new Map<Socket, number>();
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received: ReceivedRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        connection: connections.get(request.socket) ?? 0,
      };
      seen.push(received);
      respond({ seen: received, index: seen.length - 1, request, response, socket: request.socket });
    });
  };
  const server = createServer(listener);
  server.on('connection', (socket) => connections.set(socket, connections.size + 1));
  return { url: `http://127.0.0.1:${await listen(server)}`, seen };
}

/** Returns the URL of a port on which nothing is listening. */
export async function unreachableUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}
