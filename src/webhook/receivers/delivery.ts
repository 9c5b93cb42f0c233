import { ownOptions } from '../../own-options.ts';
import { badOption, WebhookVerificationError } from '../error.ts';
import { type HeadersInput, readDeliveryHeaders } from '../headers.ts';
import type { Verified, VerifyOptions } from '../options.ts';
import { type Delivery, type ReceiveOptions, statusOf, WebhookReceiveError } from './public.ts';

export type VerificationOptions = Omit<ReceiveOptions, 'onError'>;

const defaultMaxBytes = 1024 * 1024;

/** Returns the maximum length of a body, and checks the type of the options, since every receiver calls it first. */
export function maxBytesOf(options: VerificationOptions): number {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null) {
    badOption('a receiver takes an object of options: { secrets }');
  }
  const { maxBytes = defaultMaxBytes } = ownOptions(options, ['maxBytes']);
  if (typeof maxBytes === 'number' && maxBytes > 0) return maxBytes;
  badOption('maxBytes must be a number of bytes above 0');
}

export function tooLarge(maxBytes: number): WebhookReceiveError {
  return new WebhookReceiveError('body_too_large', `the body has more than ${maxBytes} bytes (see maxBytes)`);
}

/** Refuses a body by its Content-Length, before reading it. */
export function refuseContentLength(length: unknown, maxBytes: number): void {
  if (typeof length === 'string' && Number(length) > maxBytes) throw tooLarge(maxBytes);
}

/** Returns the error for a body that was parsed before verification; `hint` is the fix in this framework. */
export function notRaw(hint: string): WebhookVerificationError {
  return new WebhookVerificationError(
    'body_not_raw',
    `the body was consumed before it could be verified: ${hint}`,
    hint,
  );
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

/** Verifies the body that a receiver has read. */
export async function deliver(
  verify: (options: VerifyOptions) => Promise<Verified>,
  headers: HeadersInput,
  bytes: Uint8Array,
  options: VerificationOptions,
): Promise<Delivery> {
  const maxBytes = maxBytesOf(options);
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  const { now, headerNames, json } = ownOptions(options, ['now', 'headerNames', 'json']);
  const verified = await verify({ ...options, now: now?.(), headers, body: bytes });
  // Parsed here, because the receiver can neither log nor handle an error that is thrown in the user's handler.
  if (json !== false) parseDelivery(bytes, verified);
  return {
    verified,
    signature: readDeliveryHeaders(headers, headerNames).signature.toLowerCase(),
    bytes,
    text: () => new TextDecoder().decode(bytes),
    json: () => parseDelivery(bytes, verified),
  };
}

function shownAge(seconds: number): string {
  const rounded = Math.round(Math.abs(seconds));
  return seconds < 0 ? `, ${rounded} s ahead` : `, ${rounded} s old`;
}

/** Logs one line for a refused delivery: the code, the status and the age, but no text from the sender. */
export function logRefusal(error: unknown): void {
  const status = statusOf(error);
  const isVerification = error instanceof WebhookVerificationError;
  const code = isVerification || error instanceof WebhookReceiveError ? error.code : 'an unexpected error';
  const age = isVerification && error.ageSeconds !== undefined ? shownAge(error.ageSeconds) : '';
  const hint = isVerification && error.hint !== undefined ? ` → ${error.hint}` : '';
  console.error(`rungate refused a webhook delivery: ${code} (HTTP ${status})${age}${hint}`);
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

/** Calls `onError`, and logs the refusal if that fails: an unhandled rejection would end the process. */
async function reportError(error: unknown, onError: (error: unknown) => unknown): Promise<void> {
  try {
    await onError(error);
  } catch {
    logRefusal(error);
  }
}

/** Passes an error of `receive` to `onError`, or logs it, and rethrows it. */
export async function reportErrors(
  options: ReceiveOptions,
  receive: () => Promise<Delivery>,
): Promise<Delivery> {
  try {
    return await receive();
  } catch (error) {
    const { onError = logRefusal } = ownOptions(options ?? {}, ['onError']);
    void reportError(error, onError);
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
 * const app = express();
 * app.post('/hook', webhook({ secrets: process.env.HOOK_SECRET }), (request, response) => {
 *   console.log(deliveryOf(request).json());
 *   response.sendStatus(204);
 * });
 * ```
 */
export function deliveryOf(request: object): Delivery {
  const { webhook } = ownOptions(request as { webhook?: unknown }, ['webhook']);
  if (typeof webhook === 'object' && webhook !== null) return webhook as Delivery;
  badOption('no delivery was verified on this route: mount webhook() on it');
}
