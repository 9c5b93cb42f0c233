import { badOption, WebhookVerificationError } from './error.ts';
import type { HeaderNames, HeadersInput } from './headers.ts';

/** A secret: text, or the bytes of the key. */
export type Secret = string | Uint8Array;

/** A body: bytes, or text, which is encoded in UTF-8. */
export type Body = Uint8Array | ArrayBuffer | string;

/** A delivery and the secrets and limits to check it against. */
export interface VerifyOptions {
  /** The body exactly as received: bytes, or text that was never parsed. */
  body: Body;
  headers: HeadersInput;
  /** The webhook's secrets; during rotation several, and any of them may have signed. */
  secrets?: Secret | readonly Secret[] | undefined;
  /** The tenant's signing secret; if set, the webhook's secrets are ignored. */
  tenantSecret?: Secret | undefined;
  headerNames?: Partial<HeaderNames> | undefined;
  /** The maximum age of a delivery in seconds; default 300, null for any. */
  maxAge?: number | null | undefined;
  /** How many seconds the timestamp may be ahead of the clock; default 60, null for any. */
  maxFuture?: number | null | undefined;
  /** The time to compare the timestamp with; default now. */
  now?: Date | undefined;
}

/** An authentic delivery. */
export interface Verified {
  /** The timestamp header as received. */
  timestamp: string;
  /** The index of the secret that signed, from 0; 0 for the tenant's. */
  secretIndex: number;
  /** Seconds since the timestamp, negative if it is ahead. */
  ageSeconds: number;
}

/** The input of `sign`. */
export interface SignOptions {
  body: Body;
  secret: Secret;
  /** RFC 3339 with a zone; default now. */
  timestamp?: string | undefined;
}

/** The values of the two headers of a delivery. */
export interface Signed {
  timestamp: string;
  /** `sha256=<hex>` */
  signature: string;
}

/** Returns the type of a value, such as `Object`, `Promise` or `Undefined`. */
const typeNameOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Accepts arrays of other realms too, such as those of Jest. */
export const isBytes = (value: unknown): value is Uint8Array => typeNameOf(value) === 'Uint8Array';

/**
 * Returns the body as text or bytes.
 * @throws `body_not_raw` for an object, whose original bytes are lost
 */
export function rawBodyOf(body: unknown): string | Uint8Array {
  if (typeof body === 'string' || isBytes(body)) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new WebhookVerificationError(
    'body_not_raw',
    `the body must be raw bytes or text, but its type is ${typeNameOf(body)}`,
    'verify the delivery before anything parses its body: serialising it again does not restore the signed bytes',
  );
}

function noSecret(message: string): WebhookVerificationError {
  const hint = 'pass the secret of the webhook, and check that its environment variable is set';
  return new WebhookVerificationError('no_secret', message, hint);
}

/** Non-empty text, or a copy of the bytes, since the caller may change them meanwhile. */
export type Key = string | Uint8Array<ArrayBuffer>;

/** Rejects an empty secret, which usually is an unset variable: anyone could sign with it. */
export function signingKey(secret: unknown): Key {
  if (secret !== undefined && typeof secret !== 'string' && !isBytes(secret)) {
    badOption('a secret must be text or bytes');
  }
  if (secret === undefined || secret.length === 0) throw noSecret('a secret is empty');
  return typeof secret === 'string' ? secret : new Uint8Array(secret);
}

/** Returns the keys in the order of their secrets, or only the tenant's key if a tenant secret is given. */
export function signingKeys(secrets: unknown, tenantSecret?: unknown): Key[] {
  if (tenantSecret !== undefined) return [signingKey(tenantSecret)];
  const all: unknown[] = secrets === undefined ? [] : [secrets].flat();
  if (all.length === 0) throw noSecret('no secret to verify with was given');
  return Array.from(all, signingKey);
}

/** Returns a limit in seconds; null turns the check off, and 0 is rejected since no delivery could pass. */
export function limitOf(name: 'maxAge' | 'maxFuture', value: unknown, fallback: number): number {
  if (value === undefined) return fallback;
  if (value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && value > 0) return value;
  badOption(`${name} must be a number of seconds above 0`, 'null turns the check off');
}
