import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ConfigError } from '../errors.ts';

export interface Listening {
  readonly url: string;
  readonly port: number;
  readonly address: string;
  /** Breaks every connection and stops listening, then listens on the same port again once `over` returns true. */
  pause(over: () => boolean): void;
  close(): Promise<void>;
}

export function isLoopbackAddress(address: string): boolean {
  return /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address);
}

export function isLoopbackName(name: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(name);
}

const hostName = (host: string) => host.replace(/:\d+$/, '').toLowerCase();

/** Ignores case and port. Another web site may resolve its own domain name to this machine (DNS rebinding). */
export function namesThisHost(host: string, allowed: readonly string[]): boolean {
  const name = hostName(host);
  return isLoopbackName(name) || allowed.some((host) => hostName(host) === name);
}

/** Longer than the wait between two polls, so that a client can keep its connection open. */
const keepAliveMs = 75_000;

/** How often to check whether a pause is over, in real time: the caller's clock may be another one. */
const pauseCheckMs = 5;

const otherPort = 'choose another port, or port 0 for any free port';
const otherHost = 'choose an address of this machine, or 0.0.0.0 for all of them';
const problems: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EADDRINUSE: ['the port is already in use', otherPort],
  EACCES: ['permission denied', otherPort],
  EADDRNOTAVAIL: ['this machine does not have the address', otherHost],
  ENOTFOUND: ['the name cannot be resolved', otherHost],
  EAI_AGAIN: ['the name cannot be resolved', otherHost],
};

/** An address that means every address of this machine, and the one by which its own programs reach it. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Listens for plain HTTP. `close` also breaks open connections: a stalled response would block it for ever. */
export async function listenForMock(
  onRequest: RequestListener,
  host: string,
  port: number,
): Promise<Listening> {
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: keepAliveMs }, onRequest);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const [reason, hint] = problems[cause.code ?? ''] ?? [cause.code, otherPort];
      const message = `the mock cannot listen on port ${port} of ${host}: ${reason}`;
      reject(new ConfigError(message, { hint, cause }));
    });
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  const reached = everywhere[bound.address] ?? host;
  let paused: NodeJS.Timeout | undefined;
  return {
    port: bound.port,
    address: bound.address,
    url: `http://${reached.includes(':') ? `[${reached}]` : reached}:${bound.port}`,
    pause(over) {
      if (paused !== undefined) return;
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      paused = setInterval(() => {
        if (!over()) return;
        clearInterval(paused);
        paused = undefined;
        server.listen(bound.port, host);
      }, pauseCheckMs);
    },
    close: () =>
      new Promise((resolve) => {
        clearInterval(paused);
        // Closing twice is not an error: the second call only reports that the server was closed already.
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
