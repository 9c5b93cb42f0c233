import { ownCopy } from '../../own-options.ts';
import { badOption, WebhookVerificationError } from '../error.ts';
import { type HeadersInput, readDeliveryHeaders } from '../headers.ts';
import { isBytes, type Verified } from '../options.ts';
import { verify } from '../web.ts';
import { type Delivery, type ReceiveOptions, type RefusalStatus, statusOf } from './public.ts';

export type VerificationOptions = Omit<ReceiveOptions, 'onError'>;

export function maxBytesOf({ maxBytes = 1024 * 1024 }: VerificationOptions): number {
  if (maxBytes > 0) return maxBytes;
  badOption('maxBytes must be a number of bytes above 0');
}

export function tooLarge(maxBytes: number): WebhookVerificationError {
  return new WebhookVerificationError(
    'body_too_large',
    `the body has more than ${maxBytes} bytes`,
    'see maxBytes',
  );
}

/** Returns the raw body that a framework or a plugin kept beside the parsed one. */
export function keptBody({ rawBody }: { readonly rawBody?: unknown }): Uint8Array | undefined {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  return isBytes(rawBody) ? rawBody : undefined;
}

/** Returns the error for a body whose sender, or connection, ended before it. */
export function incomplete(cause: unknown): WebhookVerificationError {
  const message = 'the body ended before it was complete';
  return new WebhookVerificationError('body_incomplete', message, undefined, { cause });
}

/** Returns the error for a body that was parsed before verification; `hint` is the fix in this framework. */
export function notRaw(hint: string): WebhookVerificationError {
  const message = `the body was consumed before it could be verified: ${hint}`;
  return new WebhookVerificationError('body_not_raw', message, hint);
}

function parseDelivery(bytes: Uint8Array, { ageSeconds }: Verified): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // Without the cause: the message of JSON.parse quotes the body.
    throw new WebhookVerificationError(
      'invalid_json',
      'the delivery is authentic, but its body is not JSON',
      'set json: false to accept other bodies too',
      { ageSeconds },
    );
  }
}

/**
 * Reads and verifies a delivery.
 * @param read returns the raw body; it may stop with `tooLarge` after `maxBytes`
 */
export async function deliver(
  headers: HeadersInput,
  given: VerificationOptions,
  read: (maxBytes: number) => Uint8Array | Promise<Uint8Array>,
): Promise<Delivery> {
  const options = ownCopy(given);
  const maxBytes = maxBytesOf(options);
  const bytes = await read(maxBytes);
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  const verified = await verify({ ...options, now: options.now?.(), headers, body: bytes });
  // Parsed here, because the receiver can neither log nor handle an error that is thrown in the user's handler.
  if (options.json !== false) parseDelivery(bytes, verified);
  return {
    verified,
    signature: readDeliveryHeaders(headers, options.headerNames).signature.toLowerCase(),
    bytes,
    text: () => new TextDecoder().decode(bytes),
    json: () => parseDelivery(bytes, verified),
  };
}

/** Logs one line for a refused delivery: the code, the status and the age, but no text from the sender. */
function logRefusal(error: unknown): void {
  const known: Partial<WebhookVerificationError> = error instanceof WebhookVerificationError ? error : {};
  const { code = 'an unexpected error', ageSeconds, hint } = known;
  const seconds = Math.round(Math.abs(ageSeconds ?? 0));
  const age = ageSeconds === undefined ? '' : `, ${seconds} s ${ageSeconds < 0 ? 'ahead' : 'old'}`;
  const remedy = hint === undefined ? '' : ` → ${hint}`;
  console.error(`rungate refused a webhook delivery: ${code} (HTTP ${statusOf(error)})${age}${remedy}`);
}

/** Logs an error and returns the status for the sender. Rethrows errors that are not the sender's mistake, for the app. */
export function refusalStatus(error: unknown): RefusalStatus {
  logRefusal(error);
  const status = statusOf(error);
  if (status >= 500) throw error;
  return status;
}

/**
 * Returns the first object, as the error to pass to a framework. Anything else could let a refused delivery pass: Express and
 * Fastify take undefined for success, and Express takes 'route' for another route.
 */
export function errorOf(...thrown: unknown[]): object {
  return (
    thrown.find((one) => typeof one === 'object' && one !== null) ?? new Error('the delivery was refused')
  );
}

/** Passes an error to `onError`, or logs it, and rethrows it. */
export async function reportErrors(options: ReceiveOptions, delivered: Promise<Delivery>): Promise<Delivery> {
  try {
    return await delivered;
  } catch (error) {
    const { onError = logRefusal } = options;
    // Not awaited: an `onError` that never ends must not keep the sender waiting.
    Promise.resolve(error)
      .then(onError)
      .catch(() => logRefusal(error));
    throw error;
  }
}

/**
 * Returns the delivery that `webhook()` put on a request.
 * @throws `bad_option` if the request has none
 * @example
 * ```ts
 * import express from 'express';
 * import { deliveryOf, webhook } from 'rungate/webhook/express';
 *
 * express().post('/hook', webhook({ secrets: process.env.HOOK_SECRET }), (request, response) => {
 *   console.log(deliveryOf(request).json());
 *   response.sendStatus(204);
 * });
 * ```
 */
export function deliveryOf(request: object): Delivery {
  // Not an inherited one: the prototype may be polluted.
  const { value } = Object.getOwnPropertyDescriptor(request, 'webhook') ?? { value: null };
  return value ?? badOption('no delivery was verified on this route: mount webhook() on it');
}
