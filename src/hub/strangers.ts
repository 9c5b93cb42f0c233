import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** A request arrives within this time if nothing is wrong. */
const patienceMs = 5_000;
/** Connections without a request that may stay open; each takes about 20 kB and a descriptor. */
const mostStrangers = 128;

/** The connections of a server whose sender has not shown yet that it means well. */
export interface Strangers {
  /** The sender of a connection is known, or its request is being handled. */
  leave(socket: Socket): void;
  /** The connection waits for a request. */
  join(socket: Socket): void;
  /** Closes the oldest ones if there are more than 128. */
  sweep(): void;
}

/**
 * Keeps connections that send no request from keeping others out: of more than 128, it closes the oldest that have waited
 * for at least five seconds, whenever another one arrives.
 * @param now milliseconds on a clock that never jumps
 * @param onClosed receives the number of connections that were closed
 */
export function watchStrangers(
  server: Server,
  now: () => number,
  onClosed: (count: number) => void,
): Strangers {
  const since = new Map<Socket, number>();
  const sweep = () => {
    const before = since.size;
    for (const [socket, at] of since) {
      if (since.size <= mostStrangers || now() - at < patienceMs) break;
      since.delete(socket);
      socket.destroy();
    }
    if (since.size < before) onClosed(before - since.size);
  };
  const join = (socket: Socket) => {
    if (!socket.destroyed) since.set(socket, now());
  };
  server.on('connection', (socket: Socket) => {
    join(socket);
    socket.once('close', () => since.delete(socket));
    sweep();
  });
  return { join, leave: (socket) => since.delete(socket), sweep };
}
