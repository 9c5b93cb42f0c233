import { CollectedBytes } from '../../collected-bytes.ts';
import { verify } from '../node.ts';
import { isBytes } from '../options.ts';
import {
  deliver,
  maxBytesOf,
  notRaw,
  refuseContentLength,
  tooLarge,
  type VerificationOptions,
} from './delivery.ts';
import { type Delivery, WebhookReceiveError } from './public.ts';

/** The part of an `IncomingMessage` that the receiver uses, with the properties that frameworks add. */
export interface IncomingRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly readableDidRead?: boolean;
  readonly readableEnded?: boolean;
  readonly destroyed?: boolean;
  on(...args: never[]): unknown;
  removeListener(...args: never[]): unknown;
  pause(): unknown;
  resume(): unknown;
  /** A body that middleware has read: bytes are raw, anything else was parsed. */
  body?: unknown;
  rawBody?: unknown;
}

/** The event methods, whose exact types differ between the versions of Node's types. */
interface Emitter {
  on(event: string, listener: (value: never) => void): unknown;
  removeListener(event: string, listener: (value: never) => void): unknown;
}

function readStream(request: IncomingRequest, maxBytes: number, remedy: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = new CollectedBytes(maxBytes);
    const emitter: Emitter = request;
    const listeners: Record<string, (value: never) => void> = {
      data: take,
      end: finish,
      error: failIncomplete,
      close: failIncomplete,
    };
    function stop() {
      for (const [event, listener] of Object.entries(listeners)) emitter.removeListener(event, listener);
    }
    function fail(error: Error) {
      stop();
      // The rest of the body stays in the socket; Node discards it after the response.
      request.pause();
      reject(error);
    }
    function failIncomplete(cause?: unknown) {
      fail(
        new WebhookReceiveError(
          'body_incomplete',
          'the sender disconnected before the body was complete',
          cause,
        ),
      );
    }
    function take(chunk: unknown) {
      if (!isBytes(chunk)) {
        fail(notRaw(`setEncoding() was called on the request; ${remedy}`));
        return;
      }
      if (!body.add(chunk)) fail(tooLarge(maxBytes));
    }
    function finish() {
      stop();
      resolve(new Uint8Array(body.bytes()));
    }
    if (request.destroyed) {
      failIncomplete();
      return;
    }
    for (const [event, listener] of Object.entries(listeners)) emitter.on(event, listener);
    request.resume();
  });
}

/** Returns the raw body: the bytes that a framework kept, or those of the stream. */
async function rawBody(request: IncomingRequest, maxBytes: number, remedy: string): Promise<Uint8Array> {
  if (isBytes(request.rawBody)) return request.rawBody;
  if (request.readableDidRead !== true && request.readableEnded !== true) {
    refuseContentLength(request.headers['content-length'], maxBytes);
    return readStream(request, maxBytes, remedy);
  }
  // Read `body` only now: on some hosts it is a getter that parses.
  if (isBytes(request.body)) return request.body;
  // The stream ended without data: the body is empty.
  if (request.readableDidRead !== true) return new Uint8Array();
  throw notRaw(remedy);
}

/** Reads and verifies a Node request; `remedy` is the hint of the error for a body that was already consumed. */
export async function receiveIncoming(
  request: IncomingRequest,
  options: VerificationOptions,
  remedy: string,
): Promise<Delivery> {
  const bytes = await rawBody(request, maxBytesOf(options), remedy);
  return deliver(verify, request.headers, bytes, options);
}
