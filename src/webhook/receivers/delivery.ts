import { ownOptions } from '../../own-options.ts';
import { badOption, WebhookVerificationError } from '../error.ts';
import { type HeadersInput, readHeaders } from '../headers.ts';
import type { Verified, VerifyOptions } from '../options.ts';
import { type Delivery, type ReceiveOptions, statusOf, WebhookReceiveError } from './public.ts';

/** What says how deliveries are checked, and not what becomes of errors. */
export type Checks = Omit<ReceiveOptions, 'onError'>;

const usualMaxBytes = 1024 * 1024;

/** How many bytes are allowed. The options are looked at for the first time here. */
export function maxBytesOf(options: Checks): number {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null) {
    badOption('a receiver takes options: { secrets }');
  }
  const { maxBytes = usualMaxBytes } = ownOptions(options, ['maxBytes']);
  if (typeof maxBytes === 'number' && maxBytes > 0) return maxBytes;
  badOption('maxBytes must be a number of bytes above 0');
}

export function tooLarge(maxBytes: number): WebhookReceiveError {
  return new WebhookReceiveError('body_too_large', `the body has more than ${maxBytes} bytes: see maxBytes`);
}

/** Refuses by what the sender says of the size, before anything is read. */
export function refuseDeclared(length: unknown, maxBytes: number): void {
  if (typeof length === 'string' && Number(length) > maxBytes) throw tooLarge(maxBytes);
}

/** The mistake that everybody makes once, and how to mend it in this framework. */
export function notRaw(how: string): WebhookVerificationError {
  return new WebhookVerificationError(
    'body_not_raw',
    `the body was consumed before it could be verified: ${how}`,
    how,
  );
}

/** Bytes of this realm or another (Jest runs tests in one of their own). */
export const isBytes = (value: unknown): value is Uint8Array => ArrayBuffer.isView(value);

function parse(bytes: Uint8Array, { ageSeconds }: Verified): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The reason that JSON.parse gives quotes the body.
    throw new WebhookVerificationError(
      'invalid_json',
      'the delivery is authentic, but its body is not JSON',
      'set json: false to take other bodies too',
      { ageSeconds },
    );
  }
}

/** Verifies what an adapter has read. */
export async function deliver(
  verify: (options: VerifyOptions) => Promise<Verified>,
  headers: HeadersInput,
  bytes: Uint8Array,
  options: Checks,
): Promise<Delivery> {
  const maxBytes = maxBytesOf(options);
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  const { now, headerNames, json } = ownOptions(options, ['now', 'headerNames', 'json']);
  const verified = await verify({ ...options, now: now?.(), headers, body: bytes });
  // Here and not in the handler, where the receiver could neither log the error nor answer.
  if (json !== false) parse(bytes, verified);
  return {
    verified,
    signature: readHeaders(headers, headerNames).signature.toLowerCase(),
    bytes,
    text: () => new TextDecoder().decode(bytes),
    json: () => parse(bytes, verified),
  };
}

function ageText(seconds: number): string {
  const rounded = Math.round(Math.abs(seconds));
  return seconds < 0 ? `, ${rounded} s ahead` : `, ${rounded} s old`;
}

/** One line about a delivery that was not accepted: its code and its age, and nothing that the sender wrote. */
export function logRefusal(error: unknown): void {
  const status = statusOf(error);
  const ours = error instanceof WebhookVerificationError;
  const code = ours || error instanceof WebhookReceiveError ? error.code : 'an unexpected error';
  const age = ours && error.ageSeconds !== undefined ? ageText(error.ageSeconds) : '';
  const hint = ours && error.hint !== undefined ? ` → ${error.hint}` : '';
  console.error(`rungate refused a webhook delivery: ${code} (HTTP ${status})${age}${hint}`);
}

/** Runs a receiver's work; its error is told to `onError`, or logged, and thrown. */
export async function telling(options: ReceiveOptions, work: () => Promise<Delivery>): Promise<Delivery> {
  try {
    return await work();
  } catch (error) {
    const { onError = logRefusal } = ownOptions(options ?? {}, ['onError']);
    onError(error);
    throw error;
  }
}

/** The delivery that a middleware left on a request; throws where none was verified. */
export function deliveryOf(request: object): Delivery {
  const { webhook } = ownOptions(request as { webhook?: unknown }, ['webhook']);
  if (typeof webhook === 'object' && webhook !== null) return webhook as Delivery;
  badOption('no delivery was verified on this route: mount webhook()');
}
