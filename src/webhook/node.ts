import crypto from 'node:crypto';
import { asWebhookError } from './error.ts';
import {
  bodyBytes,
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

/** The two blocks of SHA-256 that a HMAC hashes: the key and the message; the key and the first hash. */
const inner = Buffer.alloc(8192);
const outer = Buffer.alloc(64 + 32);
/** The most of a body that has its place in the first, after the key and the timestamp, which is ASCII and shorter. */
const shortBody = inner.length - 64 - 64;

/**
 * The same MAC of a short message by two calls of the one-shot `hash` (RFC 2104), in half the time: making and
 * finishing a `Hmac` costs more than to hash 1 KiB. Null for what does not fit, and for keys that HMAC hashes first.
 */
function shortHmac(key: Key, timestamp: string, body: Uint8Array): string | null {
  const length = lengthOf(body);
  const keyLength = typeof key === 'string' ? Buffer.byteLength(key) : key.length;
  if (hash === undefined || length > shortBody || keyLength > 64) return null;
  inner.fill(0, 0, 64);
  if (typeof key === 'string') inner.write(key, 'utf8');
  else inner.set(key);
  for (let index = 0; index < 64; index += 1) {
    const byte = inner[index] ?? 0;
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  const start = 64 + inner.write(`${timestamp}.`, 64, 'latin1');
  inner.set(body, start);
  outer.write(hash('sha256', inner.subarray(0, start + length), 'hex'), 64, 'hex');
  return hash('sha256', outer, 'hex');
}

function hmac(key: Key, timestamp: string, body: Uint8Array): string {
  // In hex, since a digest as text is made faster than one as a Buffer.
  return (
    shortHmac(key, timestamp, body) ??
    crypto.createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')
  );
}

const [left, right] = [Buffer.alloc(64), Buffer.alloc(64)];

/** Of two MACs of 64 hex digits. */
function equal(a: string, b: string): boolean {
  left.write(a, 'latin1');
  right.write(b, 'latin1');
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
    const body = bodyBytes(options.body);
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
