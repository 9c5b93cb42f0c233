import { badOption, WebhookVerificationError } from './error.ts';
import type { HeaderNames, HeadersInput } from './headers.ts';

/** A secret as text, or as the bytes of the key. */
export type Secret = string | Uint8Array;

/** A body as bytes, or as text that is sent in UTF-8. */
export type Body = Uint8Array | ArrayBuffer | string;

/** A delivery as it came, and what it is checked against (interface, section 6). */
export interface VerifyOptions {
  /** The body exactly as it came: bytes, or text that was never parsed. */
  body: Body;
  headers: HeadersInput;
  /** The webhook's secrets: several during rotation, each is tried. */
  secrets?: Secret | readonly Secret[] | undefined;
  /** The tenant's signing secret; where one is configured it signs instead of the webhook's. */
  tenantSecret?: Secret | undefined;
  headerNames?: Partial<HeaderNames> | undefined;
  /** Seconds that a delivery may be old; default 300, null for any. */
  maxAge?: number | null | undefined;
  /** Seconds that a timestamp may be ahead of us; default 60, null for any. */
  maxFuture?: number | null | undefined;
  /** The time to compare with; default now. */
  now?: Date | undefined;
}

/** An authentic delivery. */
export interface Verified {
  /** As it was received. */
  timestamp: string;
  /** Which of the given secrets signed, counted from 0; 0 for the tenant's. */
  secretIndex: number;
  /** Seconds since the timestamp, below 0 when it is ahead. */
  ageSeconds: number;
}

/** What is signed, with what, and when. */
export interface SignOptions {
  body: Body;
  secret: Secret;
  /** RFC 3339 with a zone; default now. */
  timestamp?: string | undefined;
}

/** The values of the two headers of a delivery (interface, section 6). */
export interface Signed {
  timestamp: string;
  /** `sha256=<hex>` */
  signature: string;
}

const { prototype: typedArray } = Object.getPrototypeOf(Uint8Array) as { prototype: object };

/** A getter that looks at the bytes themselves: `instanceof` and `.length` believe proxies and redefined properties. */
function intrinsic(name: 'length' | typeof Symbol.toStringTag): (value: unknown) => unknown {
  const get = Object.getOwnPropertyDescriptor(typedArray, name)?.get as () => unknown;
  return (value) => get.call(value);
}

const tagOf = intrinsic(Symbol.toStringTag);
/** How many bytes there really are. */
export const lengthOf = intrinsic('length') as (bytes: Uint8Array) => number;

/** Of this realm or another (Jest, vm); not a proxy, not a prototype without bytes. */
function isBytes(value: unknown): value is Uint8Array {
  return tagOf(value) === 'Uint8Array';
}

/** `Object`, `Promise`, `Undefined`: what the caller has in hand, for the message. */
function kindOf(value: unknown): string {
  try {
    return /^\w{1,32}$/.exec(Object.prototype.toString.call(value).slice(8, -1))?.[0] ?? typeof value;
  } catch {
    return typeof value;
  }
}

/** A view of an ArrayBuffer, or null: whether it is one is known only by trying. */
function viewOf(value: unknown): Uint8Array | null {
  try {
    // The getter throws for all but an ArrayBuffer, and the view for one that was transferred away.
    Reflect.get(ArrayBuffer.prototype, 'byteLength', value);
    return new Uint8Array(value as ArrayBuffer);
  } catch {
    return null;
  }
}

/** Whether the bytes were transferred away, which leaves an empty view that cannot be copied. */
function isGone(bytes: Uint8Array): boolean {
  try {
    return lengthOf(bytes) === 0 && new Uint8Array(bytes).length > 0;
  } catch {
    return true;
  }
}

/** The body as text or bytes. An object is a body that somebody parsed: its bytes are gone. */
export function bodyOf(body: unknown): string | Uint8Array {
  if (typeof body === 'string') return body;
  const bytes = isBytes(body) ? body : viewOf(body);
  if (bytes !== null && !isGone(bytes)) return bytes;
  const kind = kindOf(body);
  throw new WebhookVerificationError(
    'body_not_raw',
    bytes === null
      ? `the body is not raw: it is of the kind ${kind} instead of bytes or text`
      : 'the bytes of the body were transferred away',
    kind === 'Promise'
      ? 'await it before it is verified'
      : 'verify before anything parses the body: a parsed and re-written body has other bytes than the signed one',
  );
}

/** An empty secret is a variable that was not set: with it, anybody could sign. */
function noSecret(message: string): never {
  throw new WebhookVerificationError(
    'no_secret',
    message,
    'pass the secret of the webhook: is its environment variable set?',
  );
}

/** A key: text that is not empty, or a copy of bytes that the caller may change while they are in use. */
export type Key = string | Uint8Array<ArrayBuffer>;

export function keyOf(secret: unknown): Key {
  if (secret === undefined || secret === '') noSecret('a secret is empty');
  if (typeof secret === 'string') return secret;
  if (!isBytes(secret)) badOption('a secret must be text or bytes');
  const key = new Uint8Array(secret);
  if (key.length === 0) noSecret('a secret is empty');
  return key;
}

/** The keys to try, each at the index of its secret; the tenant's alone where there is one. */
export function keysOf(secrets: unknown, tenantSecret?: unknown): Key[] {
  if (tenantSecret !== undefined) return [keyOf(tenantSecret)];
  if (secrets === undefined) noSecret('there is no secret to verify with');
  if (!Array.isArray(secrets)) return [keyOf(secrets)];
  const keys: Key[] = [];
  // By index, for a gap in the list to be seen as the secret that was not set.
  for (let index = 0; index < secrets.length; index += 1) {
    keys.push(keyOf(Object.hasOwn(secrets, index) ? secrets[index] : undefined));
  }
  if (keys.length === 0) noSecret('there is no secret to verify with');
  return keys;
}

/** A limit in seconds; null turns the check off, 0 would refuse everything. */
function limit(name: 'maxAge' | 'maxFuture', value: unknown, usual: number): number {
  if (value === undefined) return usual;
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
    // Not a Date, of whatever realm.
  }
  if (Number.isNaN(time)) badOption('now must be a valid Date');
  return time;
}

export interface Limits {
  maxAge: number;
  maxFuture: number;
  now: number;
}

export function limitsOf(options: Pick<VerifyOptions, 'maxAge' | 'maxFuture' | 'now'>): Limits {
  return {
    maxAge: limit('maxAge', options.maxAge, 300),
    maxFuture: limit('maxFuture', options.maxFuture, 60),
    now: timeOf(options.now),
  };
}
