import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { httpUrl, listen } from '../listen.ts';

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

/** An address that means every address of this machine, and the one by which its own programs reach it. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export type Listening = Awaited<ReturnType<typeof listenForMock>>;

/** Listens for plain HTTP. `close` also breaks open connections: a stalled response would block it for ever. */
export async function listenForMock(onRequest: RequestListener, host: string, port: number) {
  const sockets = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: keepAliveMs }, onRequest);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const bound = await listen(server, host, port);
  let paused: NodeJS.Timeout | undefined;
  return {
    port: bound.port,
    address: bound.address,
    url: httpUrl(everywhere[bound.address] ?? host, bound.port),
    /** Breaks every connection and stops listening, then listens on the same port again once `over` returns true. */
    pause(over: () => boolean) {
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
      new Promise<void>((resolve) => {
        clearInterval(paused);
        // Closing twice is not an error: the second call only reports that the server was closed already.
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
