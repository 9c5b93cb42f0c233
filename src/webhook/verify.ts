import { WebhookVerificationError } from './error.ts';
import { readHeaders } from './headers.ts';
import {
  keysOf,
  type Limits,
  limitsOf,
  type Message,
  messageOf,
  type Signed,
  type SignOptions,
  type Verified,
  type VerifyOptions,
} from './options.ts';
import { equalMacs, formatSignature, parseSignature } from './signature.ts';
import { parseTimestamp } from './timestamp.ts';

/** A delivery that is well formed, and not yet known to be authentic. */
export interface Candidate {
  timestamp: string;
  /** Milliseconds since the epoch. */
  at: number;
  mac: Uint8Array;
  keys: readonly Uint8Array[];
  limits: Limits;
}

/** Everything that is known without the body. Nothing of the body is looked at, let alone decoded. */
export function readCandidate(options: Omit<VerifyOptions, 'body'>): Candidate {
  if (typeof options !== 'object' || options === null) {
    throw new WebhookVerificationError('bad_option', 'verify takes one object: { body, headers, secrets }');
  }
  const limits = limitsOf(options);
  const keys = keysOf(options);
  const { timestamp, signature } = readHeaders(options.headers, options.headerNames);
  const at = parseTimestamp(timestamp);
  if (at === null) {
    throw new WebhookVerificationError(
      'malformed_timestamp',
      'the timestamp is not an RFC 3339 date-time with a zone',
    );
  }
  const mac = parseSignature(signature);
  if (mac === null) {
    throw new WebhookVerificationError(
      'malformed_signature',
      'the signature is not sha256= and 64 hex digits',
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
  if (secretIndex < 0) {
    throw new WebhookVerificationError(
      'mismatch',
      'the signature does not match: these bytes were not signed with any of the secrets',
      'verify the raw bytes with the current secret; rungate webhooks verify --diagnose finds the usual causes',
    );
  }
  const ageSeconds = (limits.now - at) / 1000;
  if (ageSeconds > limits.maxAge) {
    throw new WebhookVerificationError(
      'too_old',
      `the delivery is ${shown(ageSeconds)} old, and ${shown(limits.maxAge)} are allowed`,
      'a replay, or a clock that is wrong',
    );
  }
  if (-ageSeconds > limits.maxFuture) {
    throw new WebhookVerificationError(
      'too_new',
      `the timestamp is ${shown(ageSeconds)} ahead, and ${shown(limits.maxFuture)} are allowed`,
      'check the clocks',
    );
  }
  return { timestamp, secretIndex, ageSeconds };
}

/** Which of the MACs is the one that was sent. All are compared, so that the time taken says nothing. */
export function matching(sent: Uint8Array, macs: readonly Uint8Array[]): number {
  let found = -1;
  for (const [index, mac] of macs.entries()) if (equalMacs(mac, sent) && found < 0) found = index;
  return found;
}

/** What is signed and when, checked. */
export function readSignOptions(options: SignOptions): {
  timestamp: string;
  key: Uint8Array;
  message: Message;
} {
  if (typeof options !== 'object' || options === null) {
    throw new WebhookVerificationError('bad_option', 'sign takes one object: { body, secret }');
  }
  const timestamp: unknown = options.timestamp ?? new Date().toISOString();
  if (typeof timestamp !== 'string' || parseTimestamp(timestamp) === null) {
    throw new WebhookVerificationError(
      'malformed_timestamp',
      'the timestamp is not an RFC 3339 date-time with a zone',
    );
  }
  const [key = new Uint8Array()] = keysOf({ secrets: [options.secret] });
  return { timestamp, key, message: messageOf(timestamp, options.body) };
}

export function signed(timestamp: string, mac: Uint8Array): Signed {
  return { timestamp, signature: formatSignature(mac) };
}

export { messageOf };
