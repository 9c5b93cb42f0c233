import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Reply } from '../reply.ts';

/** What a fault must know and may do besides writing to the connection. */
export interface WireParts {
  /** The request's target: path and query, as they came. */
  readonly target: string;
  /** The connection has carried a request before this one. */
  readonly reused: boolean;
  /** Wall-clock milliseconds of the mock's clock. */
  now(): number;
  /** Lets the service handle the request, with its effect, and returns the reply without sending it. */
  reply(): Promise<Reply>;
  /** Breaks every connection and does not listen for so many milliseconds of the mock's clock. */
  refuse(ms: number): void;
  /** Hears the status as soon as one goes out. */
  sent(status: number): void;
}

/** What a fault may do with one request: let the service answer it, send bytes, break the connection. */
export type Wire = ReturnType<typeof createWire>;

export function createWire(outgoing: ServerResponse, parts: WireParts) {
  const writeHead = ({ status, headers }: Omit<Reply, 'body'>, length: number) => {
    parts.sent(status);
    outgoing.writeHead(status, { ...headers, 'content-length': length });
  };
  return {
    ...parts,
    /** Sends a reply; `promised` is the `Content-Length`, where it is not the body's own. */
    send(reply: Reply, promised = reply.body.length): void {
      writeHead(reply, promised);
      outgoing.end(reply.body);
    },
    /** Sends the headers, but only the first `length` bytes of the body, and leaves the connection open. */
    sendPart(reply: Reply, length: number, promised = reply.body.length): Promise<void> {
      writeHead(reply, promised);
      return new Promise((resolve) => {
        outgoing.write(reply.body.subarray(0, length), () => resolve());
      });
    },
    /** Sends the reply one byte at a time, so many milliseconds of real time apart. */
    drip(reply: Reply, everyMs: number): void {
      writeHead(reply, reply.body.length);
      outgoing.flushHeaders();
      let at = 0;
      const timer = setInterval(() => {
        outgoing.write(reply.body.subarray(at, at + 1));
        at += 1;
        if (at < reply.body.length) return;
        clearInterval(timer);
        outgoing.end();
      }, everyMs);
      outgoing.once('close', () => clearInterval(timer));
    },
    /** Sends 200 and the same bytes over and over, as fast as they are taken. */
    flood(chunk: Uint8Array, times: number): void {
      writeHead({ status: 200, headers: { 'content-type': 'application/json' } }, chunk.length * times);
      const chunks = Readable.from(Array.from({ length: times }, () => chunk));
      chunks.pipe(outgoing);
    },
    /** Ends the connection as if the network had: what was sent before still arrives. */
    close: () => outgoing.socket?.destroy(),
    /** Resets the connection: the client sees ECONNRESET. */
    reset: () => outgoing.socket?.resetAndDestroy(),
    /** Neither reads nor answers on this connection any more. */
    deafen: () => outgoing.socket?.pause(),
  };
}
