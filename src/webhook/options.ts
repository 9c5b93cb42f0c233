import { WebhookVerificationError } from './error.ts';
import type { HeaderNames, HeadersInput } from './headers.ts';

/** A secret as text, or as the bytes of the key. */
export type Secret = string | Uint8Array;

export interface VerifyOptions {
  /** The body exactly as it came: bytes, or text that was never parsed. */
  body: Uint8Array | string;
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

export interface Verified {
  /** As it was received. */
  timestamp: string;
  /** Which of the secrets signed; 0 for the tenant's. */
  secretIndex: number;
  /** Seconds since the timestamp, below 0 when it is ahead. */
  ageSeconds: number;
}

export interface SignOptions {
  body: Uint8Array | string;
  secret: Secret;
  /** RFC 3339 with a zone; default now. */
  timestamp?: string | undefined;
}

export interface Signed {
  timestamp: string;
  /** `sha256=<hex>` */
  signature: string;
}

function bad(message: string, hint?: string): never {
  throw new WebhookVerificationError('bad_option', message, hint);
}

/** The message that is signed: `<timestamp>.` and the body, both as bytes. */
export interface Message {
  prefix: Uint8Array;
  body: Uint8Array;
}

const encoder = new TextEncoder();

/** The body as bytes. An object is a body that somebody parsed: its bytes are gone. */
export function bodyBytes(body: unknown): Uint8Array {
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new WebhookVerificationError(
    'body_not_raw',
    `the body is not raw: ${body === null ? 'null' : typeof body} instead of bytes or text`,
    'verify before anything parses the body: a parsed and re-written body has other bytes than the signed one',
  );
}

export function messageOf(timestamp: string, body: unknown): Message {
  return { prefix: encoder.encode(`${timestamp}.`), body: bodyBytes(body) };
}

function isSecret(value: unknown): value is Secret {
  return typeof value === 'string' || value instanceof Uint8Array;
}

/** The keys to try, in the order of the secrets; the tenant's alone where there is one. */
export function keysOf(options: Pick<VerifyOptions, 'secrets' | 'tenantSecret'>): Uint8Array[] {
  const { secrets, tenantSecret } = options;
  const webhook: unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  const given = (tenantSecret === undefined ? webhook : [tenantSecret]).filter((one) => one !== undefined);
  const keys = given.map((secret) => {
    if (!isSecret(secret)) bad('a secret must be text or bytes');
    return typeof secret === 'string' ? encoder.encode(secret) : secret;
  });
  // An empty secret is a variable that was not set: with it, anybody could sign.
  if (keys.length === 0 || keys.some((key) => key.length === 0)) {
    throw new WebhookVerificationError(
      'no_secret',
      keys.length === 0 ? 'there is no secret to verify with' : 'a secret is empty',
      'pass the secret of the webhook: is its environment variable set?',
    );
  }
  return keys;
}

/** A limit in seconds; null turns the check off, 0 would refuse everything. */
function limit(name: 'maxAge' | 'maxFuture', value: unknown, usual: number): number {
  if (value === undefined) return usual;
  if (value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && value > 0) return value;
  bad(`${name} must be a number of seconds above 0`, 'null turns the check off');
}

export interface Limits {
  maxAge: number;
  maxFuture: number;
  now: number;
}

export function limitsOf(options: Pick<VerifyOptions, 'maxAge' | 'maxFuture' | 'now'>): Limits {
  const now: unknown = options.now ?? new Date();
  if (!(now instanceof Date) || Number.isNaN(now.getTime())) bad('now must be a valid Date');
  return {
    maxAge: limit('maxAge', options.maxAge, 300),
    maxFuture: limit('maxFuture', options.maxFuture, 60),
    now: now.getTime(),
  };
}
