import { CollectedBytes } from '../../collected-bytes.ts';
import { verify } from '../node.ts';
import { type Checks, deliver, isBytes, maxBytesOf, notRaw, refuseDeclared, tooLarge } from './delivery.ts';
import { type Delivery, WebhookReceiveError } from './public.ts';

/** What is used of an `IncomingMessage`, and of what frameworks add to it. */
export interface IncomingRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly readableDidRead?: boolean;
  readonly readableEnded?: boolean;
  readonly destroyed?: boolean;
  on(...args: never[]): unknown;
  removeListener(...args: never[]): unknown;
  pause(): unknown;
  resume(): unknown;
  /** Where middleware leaves a body: bytes are raw, anything else was decoded. */
  body?: unknown;
  rawBody?: unknown;
}

/** How its events are listened to; every version of Node's types has other words for it. */
interface Emitter {
  on(event: string, listener: (value: never) => void): unknown;
  removeListener(event: string, listener: (value: never) => void): unknown;
}

function readStream(request: IncomingRequest, maxBytes: number, how: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = new CollectedBytes(maxBytes);
    const emitter: Emitter = request;
    const listeners: Record<string, (value: never) => void> = {
      data: take,
      end: finish,
      error: cut,
      close: cut,
    };
    function stop() {
      for (const [event, listener] of Object.entries(listeners)) emitter.removeListener(event, listener);
    }
    function fail(error: Error) {
      stop();
      // What is still to come stays in the socket until there is an answer; then Node discards it.
      request.pause();
      reject(error);
    }
    function cut(cause?: unknown) {
      fail(
        new WebhookReceiveError('body_incomplete', 'the sender went away before the body was whole', cause),
      );
    }
    function take(chunk: unknown) {
      if (!isBytes(chunk)) {
        fail(notRaw(`setEncoding() was called on the request; ${how}`));
        return;
      }
      if (!body.add(chunk)) fail(tooLarge(maxBytes));
    }
    function finish() {
      stop();
      resolve(new Uint8Array(body.bytes()));
    }
    if (request.destroyed) {
      cut();
      return;
    }
    for (const [event, listener] of Object.entries(listeners)) emitter.on(event, listener);
    request.resume();
  });
}

/** The raw body: what a framework kept as bytes, or what the stream still holds. */
async function rawBody(request: IncomingRequest, maxBytes: number, how: string): Promise<Uint8Array> {
  if (isBytes(request.rawBody)) return request.rawBody;
  if (request.readableDidRead !== true && request.readableEnded !== true) {
    refuseDeclared(request.headers['content-length'], maxBytes);
    return readStream(request, maxBytes, how);
  }
  // Only now: on some hosts `body` is a getter that parses.
  if (isBytes(request.body)) return request.body;
  // A stream that ended without data had none to lose.
  if (request.readableDidRead !== true) return new Uint8Array();
  throw notRaw(how);
}

/** Reads and verifies a request of Node's; `how` says what to do when its body is gone. */
export async function receiveIncoming(
  request: IncomingRequest,
  options: Checks,
  how: string,
): Promise<Delivery> {
  const bytes = await rawBody(request, maxBytesOf(options), how);
  return deliver(verify, request.headers, bytes, options);
}
