import type { ServerResponse } from 'node:http';

/** A reply as bytes. `Content-Length` is set from the body when it is sent. */
export interface WireReply {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/** What a fault may do with one request: let the service answer it, send bytes, break the connection. */
export interface Wire {
  /** The request's target: path and query, as they came. */
  readonly target: string;
  /** The connection has carried a request before this one. */
  readonly reused: boolean;
  /** Wall-clock milliseconds of the mock's clock. */
  now(): number;
  /** Lets the service handle the request, with its effect, and returns the reply without sending it. */
  reply(): Promise<WireReply>;
  send(reply: WireReply): void;
  /**
   * Sends the headers of the whole reply, but only the first `length` bytes of its body, and leaves it open.
   * `promised` is the `Content-Length`, where it is not the body's own.
   */
  sendPart(reply: WireReply, length: number, promised?: number): Promise<void>;
  /** Sends the reply with a `Content-Length` that is not true, and counts it as complete. */
  sendAs(reply: WireReply, promised: number): void;
  /** Sends the reply one byte at a time, so many milliseconds of real time apart. */
  drip(reply: WireReply, everyMs: number): void;
  /** Sends 200 and the same bytes over and over, as fast as they are taken. */
  flood(chunk: Uint8Array, times: number): void;
  /** Ends the connection as if the network had: what was sent before still arrives. */
  close(): void;
  /** Resets the connection: the client sees ECONNRESET. */
  reset(): void;
  /** Neither reads nor answers on this connection any more. */
  deafen(): void;
  /** Breaks every connection and does not listen for so many milliseconds of the mock's clock. */
  refuse(ms: number): void;
}

/** What a wire needs beside the reply it writes. */
export interface WireParts extends Pick<Wire, 'target' | 'reused' | 'now' | 'refuse'> {
  handle(): Promise<Response>;
  /** Hears the status as soon as one goes out. */
  sent(status: number): void;
}

export function createWire(outgoing: ServerResponse, parts: WireParts): Wire {
  const { target, reused, now, refuse, handle, sent } = parts;
  const writeHead = (reply: WireReply, promised: number = reply.body.length) => {
    sent(reply.status);
    outgoing.writeHead(reply.status, { ...reply.headers, 'content-length': promised });
  };
  return {
    target,
    reused,
    now,
    refuse,
    async reply() {
      const response = await handle();
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: new Uint8Array(await response.arrayBuffer()),
      };
    },
    send(reply) {
      writeHead(reply);
      outgoing.end(reply.body);
    },
    sendPart(reply, length, promised) {
      writeHead(reply, promised);
      return new Promise((resolve) => {
        outgoing.write(reply.body.subarray(0, length), () => resolve());
      });
    },
    sendAs(reply, promised) {
      writeHead(reply, promised);
      outgoing.end(reply.body);
    },
    drip(reply, everyMs) {
      writeHead(reply);
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
    flood(chunk, times) {
      sent(200);
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': chunk.length * times });
      let left = times;
      const more = () => {
        while (left > 0) {
          left -= 1;
          if (!outgoing.write(chunk)) return;
        }
        outgoing.off('drain', more);
        outgoing.end();
      };
      outgoing.on('drain', more);
      more();
    },
    close: () => outgoing.socket?.destroy(),
    reset: () => outgoing.socket?.resetAndDestroy(),
    deafen: () => outgoing.socket?.pause(),
  };
}
