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
  /** Lets the service handle the request, with its effect, and returns the reply without sending it. */
  reply(): Promise<WireReply>;
  send(reply: WireReply): void;
  /** Sends the headers of the whole reply, but only the first `length` bytes of its body, and leaves it open. */
  sendPart(reply: WireReply, length: number): Promise<void>;
  /** Ends the connection as if the network had: what was sent before still arrives. */
  close(): void;
  /** Resets the connection: the client sees ECONNRESET. */
  reset(): void;
}

function writeHead(outgoing: ServerResponse, reply: WireReply): void {
  outgoing.writeHead(reply.status, { ...reply.headers, 'content-length': reply.body.length });
}

/** `sent` hears the status as soon as one goes out. */
export function createWire(
  outgoing: ServerResponse,
  handle: () => Promise<Response>,
  sent: (status: number) => void,
): Wire {
  return {
    async reply() {
      const response = await handle();
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: new Uint8Array(await response.arrayBuffer()),
      };
    },
    send(reply) {
      sent(reply.status);
      writeHead(outgoing, reply);
      outgoing.end(reply.body);
    },
    sendPart(reply, length) {
      sent(reply.status);
      writeHead(outgoing, reply);
      return new Promise((resolve) => {
        outgoing.write(reply.body.subarray(0, length), () => resolve());
      });
    },
    close: () => outgoing.socket?.destroy(),
    reset: () => outgoing.socket?.resetAndDestroy(),
  };
}
