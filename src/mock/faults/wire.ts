import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { RawResponse } from '../response.ts';

/** The request and the operations that a fault needs besides writing to the connection. */
interface WireParts {
  readonly target: string;
  readonly reused: boolean;
  /** Wall-clock milliseconds of the mock's clock. */
  now(): number;
  /** Lets the service handle the request, with its effect, and returns the response without sending it. */
  handle(): Promise<RawResponse>;
  /** Breaks every connection and stops listening for this many milliseconds of the mock's clock. */
  refuse(ms: number): void;
  /** Called with the status code when the headers are sent. */
  sent(status: number): void;
}

/** The operations of a fault on one request: let the service handle it, send bytes, break the connection. */
export type Wire = ReturnType<typeof createWire>;

export function createWire(outgoing: ServerResponse, parts: WireParts) {
  const writeHead = ({ status, headers }: Omit<RawResponse, 'body'>, length: number) => {
    parts.sent(status);
    outgoing.writeHead(status, { ...headers, 'content-length': length });
  };
  return {
    ...parts,
    /** Sends a response; `promised` is the `Content-Length` if it differs from the body's. */
    send(response: RawResponse, promised = response.body.length): void {
      writeHead(response, promised);
      outgoing.end(response.body);
    },
    /** Sends the headers but only the first `length` bytes of the body, and leaves the connection open. */
    sendPart(response: RawResponse, length: number, promised = response.body.length): Promise<void> {
      writeHead(response, promised);
      return new Promise((resolve) => {
        outgoing.write(response.body.subarray(0, length), () => resolve());
      });
    },
    /** Sends the response one byte at a time, `everyMs` milliseconds of real time apart. */
    drip(response: RawResponse, everyMs: number): void {
      writeHead(response, response.body.length);
      outgoing.flushHeaders();
      let written = 0;
      const timer = setInterval(() => {
        outgoing.write(response.body.subarray(written, written + 1));
        written += 1;
        if (written < response.body.length) return;
        clearInterval(timer);
        outgoing.end();
      }, everyMs);
      outgoing.once('close', () => clearInterval(timer));
    },
    /** Sends 200 and the same bytes repeatedly, as fast as the client reads them. */
    flood(chunk: Uint8Array, times: number): void {
      writeHead({ status: 200, headers: { 'content-type': 'application/json' } }, chunk.length * times);
      const chunks = Readable.from(Array.from({ length: times }, () => chunk));
      chunks.pipe(outgoing);
    },
    /** Closes the connection; the client still receives what was sent before. */
    close: () => outgoing.socket?.destroy(),
    reset: () => outgoing.socket?.resetAndDestroy(),
    ignore: () => outgoing.socket?.pause(),
  };
}

/** The operations of a fault on one delivery, which is already signed. */
export interface DeliveryWire {
  /** Sends the delivery and records the response. */
  send(): Promise<void>;
  /** Sends the delivery with a signature that no secret of the receiver matches, and records the response. */
  sendForged(): Promise<void>;
  /** Records that no response was received, without sending the delivery. */
  lose(): void;
  sleep(ms: number): Promise<void>;
  /**
   * Resolves when the next delivery to the same webhook has been sent, or after this many milliseconds.
   * Returns at once if another delivery to the webhook is already waiting, because this one is its next.
   */
  overtaken(ms: number): Promise<void>;
  /** Keeps the status of the run that the delivery is about at `in_progress` for this many milliseconds. */
  holdStatus(ms: number): void;
}
