import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ConfigError } from '../errors.ts';

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** The IP address that it listens on. */
  readonly address: string;
  /** Breaks every connection and stops listening; listens again, on the same port, once `over` says so. */
  pause(over: () => boolean): void;
  close(): Promise<void>;
}

/** Whether an IP address is one of this machine alone. */
export function isLoopbackAddress(address: string): boolean {
  return /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address);
}

/** Whether a host name, as in a URL, is one of this machine. */
export function isLoopbackName(name: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(name);
}

const nameOf = (host: string) => host.replace(/:\d+$/, '').toLowerCase();

/**
 * Whether a Host header names this machine, or has one of the names that were allowed; in any case, with any port. A page
 * elsewhere may know a name of its own that leads here (DNS rebinding).
 */
export function namesThisHost(host: string, allowed: readonly string[]): boolean {
  const name = nameOf(host);
  return isLoopbackName(name) || allowed.some((one) => nameOf(one) === name);
}

/** Longer than the waits between polls, so that a client may keep its connection over them. */
const keepAliveMs = 75_000;

/** How often a pause is looked at, in real time: whose clock it ends by is not our business. */
const pauseCheckMs = 5;

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is already taken',
  EACCES: 'it is not allowed',
};

/** Listens for plain HTTP. `close` breaks what is still open: a stalled reply would hold it for ever. */
export async function listen(onRequest: RequestListener, host: string, port: number): Promise<Listening> {
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: keepAliveMs }, onRequest);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const message = `the mock cannot listen on port ${port} of ${host}: ${reasons[cause.code ?? ''] ?? cause.code}`;
      const hint = 'choose another port, or port 0 for any that is free';
      reject(new ConfigError(message, { hint, cause }));
    });
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  let paused: NodeJS.Timeout | undefined;
  return {
    port: bound.port,
    address: bound.address,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
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
        // Closing twice is no error: the second call reports that it was closed already.
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
