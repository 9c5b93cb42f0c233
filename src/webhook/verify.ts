import { parseTimestamp } from '../date-time.ts';
import { ownCopy } from '../own-options.ts';
import { badOption, WebhookVerificationError } from './error.ts';
import { readDeliveryHeaders } from './headers.ts';
import {
  type Key,
  limitOf,
  rawBodyOf,
  type Signed,
  type SignOptions,
  signingKey,
  signingKeys,
  type Verified,
  type VerifyOptions,
} from './options.ts';

const signaturePattern = /^sha256=[0-9A-Fa-f]{64}$/;

/** Returns the MAC of `sha256=<hex>` in lower case, or null. Only ASCII hex digits are accepted. */
export function parseSignature(text: string): string | null {
  return signaturePattern.test(text) ? text.slice(7).toLowerCase() : null;
}

export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0');
  return hex;
}

/** A well-formed delivery whose signature is not checked yet. */
export interface UncheckedDelivery {
  timestamp: string;
  ageSeconds: number;
  maxAge: number;
  maxFuture: number;
  /** Lower-case hex. */
  mac: string;
  keys: readonly Key[];
  body: string | Uint8Array;
}

/** Returns milliseconds since the epoch. */
function timeOf(timestamp: string): number {
  const at = parseTimestamp(timestamp);
  if (at !== null) return at;
  throw new WebhookVerificationError(
    'malformed_timestamp',
    'the timestamp is not an RFC 3339 date-time with a zone',
    'pass it unchanged, such as 2026-11-20T12:00:00Z',
  );
}

/** Reads and checks the options. Inherited ones may come from a polluted prototype, and do not count. */
export function readUnchecked(given: VerifyOptions): UncheckedDelivery {
  const options = ownCopy(given);
  const { now = new Date() } = options;
  if (Number.isNaN(now.getTime())) badOption('now must be a valid Date');
  const maxAge = limitOf('maxAge', options.maxAge, 300);
  const maxFuture = limitOf('maxFuture', options.maxFuture, 60);
  const keys = signingKeys(options.secrets, options.tenantSecret);
  const { timestamp, signature } = readDeliveryHeaders(options.headers, options.headerNames);
  const ageSeconds = (now.getTime() - timeOf(timestamp)) / 1000;
  const mac = parseSignature(signature);
  if (mac === null) {
    throw new WebhookVerificationError(
      'malformed_signature',
      'the signature is not sha256= and 64 hex digits',
      'pass the whole value of the header unchanged',
      { ageSeconds },
    );
  }
  return { timestamp, ageSeconds, maxAge, maxFuture, mac, keys, body: rawBodyOf(options.body) };
}

function formatSeconds(seconds: number): string {
  return `${Math.round(Math.abs(seconds))} s`;
}

/**
 * Checks the age last, when the timestamp is authentic.
 * @param matches whether each of the keys signed; compare all of them, so that the duration does not reveal which
 */
export function judgeDelivery(candidate: UncheckedDelivery, matches: readonly boolean[]): Verified {
  const { timestamp, ageSeconds, maxAge, maxFuture } = candidate;
  const secretIndex = matches.indexOf(true);
  if (secretIndex < 0) {
    throw new WebhookVerificationError(
      'mismatch',
      'the signature does not match: none of the secrets signed these bytes',
      'verify the raw bytes with the current secret; rungate webhooks verify --diagnose finds the usual causes',
      { ageSeconds },
    );
  }
  if (ageSeconds > maxAge) {
    throw new WebhookVerificationError(
      'too_old',
      `the delivery is ${formatSeconds(ageSeconds)} old, which is more than the allowed ${formatSeconds(maxAge)}`,
      'the delivery is a replay, or a clock is wrong; to verify an archived delivery, set maxAge to null',
      { ageSeconds },
    );
  }
  if (-ageSeconds > maxFuture) {
    throw new WebhookVerificationError(
      'too_new',
      `the timestamp is ${formatSeconds(ageSeconds)} ahead, which is more than the allowed ${formatSeconds(maxFuture)}`,
      'check the clocks of the sender and of this machine',
      { ageSeconds },
    );
  }
  return { timestamp, secretIndex, ageSeconds };
}

/** Reads and checks the options of `sign`. */
export function readSignOptions(given: SignOptions): {
  timestamp: string;
  key: Key;
  body: string | Uint8Array;
} {
  const { timestamp = new Date().toISOString(), secret, body } = ownCopy(given);
  timeOf(timestamp);
  return { timestamp, key: signingKey(secret), body: rawBodyOf(body) };
}

export function signed(timestamp: string, mac: string): Signed {
  return { timestamp, signature: `sha256=${mac}` };
}
