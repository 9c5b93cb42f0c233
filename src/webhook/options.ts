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

/** Accepts arrays of other realms too, such as those of Jest. */
export function isBytes(value: unknown): value is Uint8Array {
  return typeNameOf(value) === 'Uint8Array';
}

/** Returns the type of a value, such as `Object`, `Promise` or `Undefined`. */
function typeNameOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/**
 * Returns the body as text or bytes.
 * @throws `body_not_raw` for an object, whose original bytes are lost
 */
export function rawBodyOf(body: unknown): string | Uint8Array {
  if (typeof body === 'string' || isBytes(body)) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  const type = typeNameOf(body);
  throw new WebhookVerificationError(
    'body_not_raw',
    `the body must be raw bytes or text, but its type is ${type}`,
    type === 'Promise'
      ? 'await the body first'
      : 'verify the delivery before anything parses its body: serialising it again does not restore the signed bytes',
  );
}

/** Rejects an empty secret, which usually is an unset variable: anyone could sign with it. */
function rejectMissingSecret(message: string): never {
  throw new WebhookVerificationError(
    'no_secret',
    message,
    'pass the secret of the webhook, and check that its environment variable is set',
  );
}

/** Non-empty text, or a copy of the bytes, since the caller may change them meanwhile. */
export type Key = string | Uint8Array<ArrayBuffer>;

export function signingKey(secret: unknown): Key {
  if (secret === undefined || secret === '') rejectMissingSecret('a secret is empty');
  if (typeof secret === 'string') return secret;
  if (!isBytes(secret)) badOption('a secret must be text or bytes');
  const key = new Uint8Array(secret);
  if (key.length === 0) rejectMissingSecret('a secret is empty');
  return key;
}

/** Returns the keys in the order of their secrets, or only the tenant's key if a tenant secret is given. */
export function signingKeys(secrets: unknown, tenantSecret?: unknown): Key[] {
  if (tenantSecret !== undefined) return [signingKey(tenantSecret)];
  if (secrets === undefined) rejectMissingSecret('no secret to verify with was given');
  if (!Array.isArray(secrets)) return [signingKey(secrets)];
  if (secrets.length === 0) rejectMissingSecret('no secret to verify with was given');
  return Array.from(secrets, signingKey);
}

/** Returns a limit in seconds; null turns the check off, and 0 is rejected since no delivery could pass. */
export function limitOf(name: 'maxAge' | 'maxFuture', value: unknown, fallback: number): number {
  if (value === undefined) return fallback;
  if (value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && value > 0) return value;
  badOption(`${name} must be a number of seconds above 0`, 'null turns the check off');
}

function timeOf(now: unknown): number {
  if (now === undefined) return Date.now();
  const time = now instanceof Date ? now.getTime() : Number.NaN;
  if (Number.isNaN(time)) badOption('now must be a valid Date');
  return time;
}

export interface AgeLimits {
  maxAge: number;
  maxFuture: number;
  now: number;
}

export function ageLimits(options: Pick<VerifyOptions, 'maxAge' | 'maxFuture' | 'now'>): AgeLimits {
  return {
    maxAge: limitOf('maxAge', options.maxAge, 300),
    maxFuture: limitOf('maxFuture', options.maxFuture, 60),
    now: timeOf(options.now),
  };
}
