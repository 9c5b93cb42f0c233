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

const { prototype: typedArray } = Object.getPrototypeOf(Uint8Array) as { prototype: object };

/** Returns an intrinsic getter of typed arrays: proxies and redefined properties can fool `instanceof` and `.length`. */
function intrinsic(name: 'length' | typeof Symbol.toStringTag): (value: unknown) => unknown {
  const get = Object.getOwnPropertyDescriptor(typedArray, name)?.get as () => unknown;
  return (value) => get.call(value);
}

const tagOf = intrinsic(Symbol.toStringTag);
/** Returns the real number of bytes. */
export const lengthOf = intrinsic('length') as (bytes: Uint8Array) => number;

/** Accepts arrays of other realms too (Jest, vm), but neither proxies nor bare prototypes. */
export function isBytes(value: unknown): value is Uint8Array {
  return tagOf(value) === 'Uint8Array';
}

/** Returns the type of a value for a message, such as `Object`, `Promise` or `Undefined`. */
function typeNameOf(value: unknown): string {
  try {
    return /^\w{1,32}$/.exec(Object.prototype.toString.call(value).slice(8, -1))?.[0] ?? typeof value;
  } catch {
    return typeof value;
  }
}

function viewOf(value: unknown): Uint8Array | null {
  try {
    // The getter throws for anything but an ArrayBuffer; the constructor throws for a detached one.
    Reflect.get(ArrayBuffer.prototype, 'byteLength', value);
    return new Uint8Array(value as ArrayBuffer);
  } catch {
    return null;
  }
}

/** Returns whether the buffer was transferred, which leaves an empty view that cannot be copied. */
function isDetached(bytes: Uint8Array): boolean {
  try {
    return lengthOf(bytes) === 0 && new Uint8Array(bytes).length > 0;
  } catch {
    return true;
  }
}

/**
 * Returns the body as text or bytes.
 * @throws `body_not_raw` for an object, whose original bytes are lost
 */
export function rawBodyOf(body: unknown): string | Uint8Array {
  if (typeof body === 'string') return body;
  const bytes = isBytes(body) ? body : viewOf(body);
  if (bytes !== null && !isDetached(bytes)) return bytes;
  const type = typeNameOf(body);
  throw new WebhookVerificationError(
    'body_not_raw',
    bytes === null
      ? `the body must be raw bytes or text, but its type is ${type}`
      : 'the body is a buffer that was transferred elsewhere',
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
  const keys: Key[] = [];
  // By index, because iteration methods skip holes; a hole is a secret that was not set.
  for (let index = 0; index < secrets.length; index += 1) {
    keys.push(signingKey(Object.hasOwn(secrets, index) ? secrets[index] : undefined));
  }
  if (keys.length === 0) rejectMissingSecret('no secret to verify with was given');
  return keys;
}

/** Returns a limit in seconds; null turns the check off, and 0 is rejected since no delivery could pass. */
export function limitOf(name: 'maxAge' | 'maxFuture', value: unknown, fallback: number): number {
  if (value === undefined) return fallback;
  if (value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && value > 0) return value;
  badOption(`${name} must be a number of seconds above 0`, 'null turns the check off');
}

const getTime = Date.prototype.getTime;

function timeOf(now: unknown): number {
  if (now === undefined) return Date.now();
  let time = Number.NaN;
  try {
    time = getTime.call(now as Date);
  } catch {
    // Not a Date of any realm.
  }
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
