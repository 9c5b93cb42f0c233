import { ownOptions } from '../own-options.ts';
import { badOption, WebhookVerificationError } from './error.ts';
import { readHeaders } from './headers.ts';
import {
  bodyOf,
  type Key,
  keyOf,
  keysOf,
  type Limits,
  limitsOf,
  type Signed,
  type SignOptions,
  type Verified,
  type VerifyOptions,
} from './options.ts';
import { parseTimestamp } from './timestamp.ts';

const signaturePattern = /^sha256=[0-9A-Fa-f]{64}$/;

/** The MAC of `sha256=<hex>` as lower-case hex, or null. Anything but ASCII hex digits is refused. */
export function parseSignature(text: string): string | null {
  return signaturePattern.test(text) ? text.slice(7).toLowerCase() : null;
}

export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0');
  return hex;
}

/** What `verify` reads of its options before the body. */
const verifyNames = [
  'headers',
  'secrets',
  'tenantSecret',
  'headerNames',
  'maxAge',
  'maxFuture',
  'now',
] as const satisfies readonly (keyof VerifyOptions)[];

/** A delivery that is well formed, and not yet known to be authentic. */
export interface Candidate {
  timestamp: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Lower-case hex. */
  mac: string;
  keys: readonly Key[];
  limits: Limits;
}

function malformedTimestamp(hint?: string): WebhookVerificationError {
  const message = 'the timestamp is not an RFC 3339 date-time with a zone';
  return new WebhookVerificationError('malformed_timestamp', message, hint);
}

/** Everything that is known without the body. Nothing of the body is looked at, let alone decoded. */
export function readCandidate(given: Omit<VerifyOptions, 'body'>): Candidate {
  if (typeof given !== 'object' || given === null) {
    badOption('verify takes one object: { body, headers, secrets }');
  }
  const options = ownOptions(given, verifyNames);
  const limits = limitsOf(options);
  const keys = keysOf(options.secrets, options.tenantSecret);
  const { timestamp, signature } = readHeaders(options.headers, options.headerNames);
  const at = parseTimestamp(timestamp);
  if (at === null) {
    throw malformedTimestamp("give the header's value as it came, such as 2026-11-20T12:00:00Z");
  }
  const mac = parseSignature(signature);
  if (mac === null) {
    throw new WebhookVerificationError(
      'malformed_signature',
      'the signature is not sha256= and 64 hex digits',
      'give the whole value of the header, as it came',
      { ageSeconds: (limits.now - at) / 1000 },
    );
  }
  return { timestamp, at, mac, keys, limits };
}

function shown(seconds: number): string {
  return `${Math.round(Math.abs(seconds))} s`;
}

/** The verdict, once it is known which key made the MAC. Age counts only for what is authentic. */
export function judge(candidate: Candidate, secretIndex: number): Verified {
  const { timestamp, at, limits } = candidate;
  const ageSeconds = (limits.now - at) / 1000;
  if (secretIndex < 0) {
    throw new WebhookVerificationError(
      'mismatch',
      'the signature does not match: these bytes were not signed with any of the secrets',
      'verify the raw bytes with the current secret; rungate webhooks verify --diagnose finds the usual causes',
      { ageSeconds },
    );
  }
  if (ageSeconds > limits.maxAge) {
    throw new WebhookVerificationError(
      'too_old',
      `the delivery is ${shown(ageSeconds)} old, and ${shown(limits.maxAge)} are allowed`,
      'a replay, or a clock that is wrong; what was kept on purpose is verified without a limit',
      { ageSeconds },
    );
  }
  if (-ageSeconds > limits.maxFuture) {
    throw new WebhookVerificationError(
      'too_new',
      `the timestamp is ${shown(ageSeconds)} ahead, and ${shown(limits.maxFuture)} are allowed`,
      'check the clocks',
      { ageSeconds },
    );
  }
  return { timestamp, secretIndex, ageSeconds };
}

/** The index of the MAC that was sent, or -1. All are compared, so that the time taken does not tell which one it is. */
export function matching<Mac>(macs: readonly Mac[], isSent: (mac: Mac) => boolean): number {
  return macs.map(isSent).indexOf(true);
}

/** What is signed and when, checked. */
export function readSignOptions(given: SignOptions): {
  timestamp: string;
  key: Key;
  body: string | Uint8Array;
} {
  if (typeof given !== 'object' || given === null) {
    badOption('sign takes one object: { body, secret }');
  }
  const {
    timestamp = new Date().toISOString(),
    secret,
    body,
  } = ownOptions(given, ['timestamp', 'secret', 'body']);
  if (typeof timestamp !== 'string' || parseTimestamp(timestamp) === null) {
    throw malformedTimestamp();
  }
  return { timestamp, key: keyOf(secret), body: bodyOf(body) };
}

export function signed(timestamp: string, mac: string): Signed {
  return { timestamp, signature: `sha256=${mac}` };
}
