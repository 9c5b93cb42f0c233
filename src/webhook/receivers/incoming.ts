import { CollectedBytes } from '../../collected-bytes.ts';
import { badOption, WebhookVerificationError } from '../error.ts';
import { isBytes } from '../options.ts';
import { deliver, incomplete, keptBody, notRaw, tooLarge, type VerificationOptions } from './delivery.ts';
import type { Delivery } from './public.ts';

/** The part of an `IncomingMessage` that the receiver uses, with the properties that frameworks add. */
export interface IncomingRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly readableDidRead?: boolean;
  readonly readableEnded?: boolean;
  iterator(options?: { destroyOnReturn?: boolean }): AsyncIterable<unknown>;
  /** A body that middleware has read: bytes are raw, anything else was parsed. */
  body?: unknown;
  /** The raw body, if a framework kept it: bytes, or text. */
  rawBody?: unknown;
}

const isStream = (one: unknown) => typeof (one as Partial<IncomingRequest> | null)?.iterator === 'function';

/** Refuses a framework's own request object, from which no body can be read, and names what to pass. */
function checkRequest(given: unknown): void {
  const { req, raw, rawBody } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if (isStream(given) || keptBody({ rawBody }) !== undefined) return;
  const instead = isStream(req)
    ? "pass the object's req; in Koa, ctx.req"
    : isStream(raw)
      ? "pass the object's raw; in Fastify, mount webhook() of rungate/webhook/fastify; in Nest, create the app with { rawBody: true }"
      : 'pass the request of node:http, or use rungate/webhook/fetch for a Request of the Fetch API';
  badOption(`receive did not get a Node request: ${instead}`, instead);
}

/** @param remedy the hint of the error for a body that is no longer raw */
export async function readStream(
  request: IncomingRequest,
  maxBytes: number,
  remedy: string,
): Promise<Uint8Array> {
  const declared = Number(request.headers['content-length']);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  const body = new CollectedBytes(maxBytes, declared);
  try {
    // Keep the socket open for the response; Node discards the rest of the body after it.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (!isBytes(chunk)) throw notRaw(`setEncoding() was called on the request; ${remedy}`);
      if (!body.add(chunk)) throw tooLarge(maxBytes);
    }
  } catch (error) {
    throw error instanceof WebhookVerificationError ? error : incomplete(error);
  }
  return new Uint8Array(body.bytes());
}

/** Returns the raw body: the bytes that a framework kept, or those of the stream. */
async function rawBody(request: IncomingRequest, maxBytes: number, remedy: string): Promise<Uint8Array> {
  const kept = keptBody(request);
  if (kept !== undefined) return kept;
  if (request.readableDidRead !== true && request.readableEnded !== true) {
    return readStream(request, maxBytes, remedy);
  }
  // Read `body` only now: on some hosts it is a getter that parses.
  if (isBytes(request.body)) return request.body;
  // The stream ended without data: the body is empty.
  if (request.readableDidRead !== true) return new Uint8Array();
  throw notRaw(remedy);
}

export async function receiveIncoming(
  request: IncomingRequest,
  options: VerificationOptions,
  remedy: string,
): Promise<Delivery> {
  checkRequest(request);
  return deliver(request.headers, options, (maxBytes) => rawBody(request, maxBytes, remedy));
}
