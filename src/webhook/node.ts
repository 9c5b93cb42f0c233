import crypto from 'node:crypto';
import { asWebhookError } from './error.ts';
import {
  bodyOf,
  type Key,
  lengthOf,
  type Signed,
  type SignOptions,
  type Verified,
  type VerifyOptions,
} from './options.ts';
import { judge, matching, readCandidate, readSignOptions, signed } from './verify.ts';

export * from './public.ts';

// Of Node 20.12 and later; the other runtimes that load this module may not have it.
const hash: typeof crypto.hash | undefined = crypto.hash;

/** What a HMAC hashes first: the key, padded to a block, and the message. */
const inner = Buffer.alloc(8192);
/** And then: the key, padded otherwise, and the first hash. */
const outer = Buffer.alloc(64 + 32);
/** The most of a body that has its place in the first, after the key and the timestamp, which is ASCII and shorter. */
const shortBody = inner.length - 64 - 64;
/** The text whose pads these two begin with. */
let padded: string | undefined;

/** Puts the pads of a key in place; not for one that is longer than a block, which HMAC hashes first. */
function pad(key: Key): boolean {
  if (key === padded) return true;
  if ((typeof key === 'string' ? Buffer.byteLength(key) : key.length) > 64) return false;
  inner.fill(0, 0, 64);
  if (typeof key === 'string') inner.write(key, 'utf8');
  else inner.set(key);
  for (let index = 0; index < 64; index += 1) {
    const byte = inner[index] ?? 0;
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  padded = typeof key === 'string' ? key : undefined;
  return true;
}

/** Whether a body is short; the bytes of a text are counted only where they may be few enough. */
function isShort(body: string | Uint8Array): boolean {
  if (typeof body !== 'string') return lengthOf(body) <= shortBody;
  return body.length <= shortBody && Buffer.byteLength(body) <= shortBody;
}

/**
 * HMAC-SHA256 over `<timestamp>.<body>`, in hex. A short message takes two calls of the one-shot `hash` (RFC 2104),
 * which is half the time: to make and finish a `Hmac` costs more than to hash 1 KiB.
 */
function hmac(key: Key, timestamp: string, body: string | Uint8Array): string {
  if (hash === undefined || !isShort(body) || !pad(key)) {
    return crypto.createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex');
  }
  let end = 64 + inner.write(`${timestamp}.`, 64, 'latin1');
  if (typeof body === 'string') end += inner.write(body, end, 'utf8');
  else {
    inner.set(body, end);
    end += lengthOf(body);
  }
  outer.write(hash('sha256', inner.subarray(0, end), 'hex'), 64, 'hex');
  return hash('sha256', outer, 'hex');
}

/** Two MACs of 64 hex digits side by side: one write for both, and nothing to allocate. */
const pair = Buffer.alloc(128);
const [left, right] = [pair.subarray(0, 64), pair.subarray(64)];

function equal(a: string, b: string): boolean {
  pair.write(a + b, 'latin1');
  return crypto.timingSafeEqual(left, right);
}

/** The synchronous twin of `sign`: the same input, the same output, the same errors. */
export function signSync(options: SignOptions): Signed {
  try {
    const { timestamp, key, body } = readSignOptions(options);
    return signed(timestamp, hmac(key, timestamp, body));
  } catch (error) {
    throw asWebhookError(error);
  }
}

/** The synchronous twin of `verify`: the same input, the same output, the same errors. */
export function verifySync(options: VerifyOptions): Verified {
  try {
    const candidate = readCandidate(options);
    const body = bodyOf(options.body);
    const macs = candidate.keys.map((key) => hmac(key, candidate.timestamp, body));
    return judge(candidate, matching(candidate.mac, macs, equal));
  } catch (error) {
    throw asWebhookError(error);
  }
}

/**
 * Signs a body as the service signs its deliveries (interface, section 6).
 * @throws WebhookVerificationError and nothing else
 */
export async function sign(options: SignOptions): Promise<Signed> {
  return signSync(options);
}

/**
 * Verifies a delivery: raw bytes in, and nothing decoded before the MAC is right.
 * @throws WebhookVerificationError and nothing else
 */
export async function verify(options: VerifyOptions): Promise<Verified> {
  return verifySync(options);
}
