import { createHmac } from 'node:crypto';
import type { Message, Signed, SignOptions, Verified, VerifyOptions } from './options.ts';
import { judge, matching, messageOf, readCandidate, readSignOptions, signed } from './verify.ts';

export * from './public.ts';

function hmac(key: Uint8Array, { prefix, body }: Message): Uint8Array {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}

/** The synchronous twin of `sign`: the same input, the same output, the same errors. */
export function signSync(options: SignOptions): Signed {
  const { timestamp, key, message } = readSignOptions(options);
  return signed(timestamp, hmac(key, message));
}

/** The synchronous twin of `verify`: the same input, the same output, the same errors. */
export function verifySync(options: VerifyOptions): Verified {
  const candidate = readCandidate(options);
  const message = messageOf(candidate.timestamp, options.body);
  const macs = candidate.keys.map((key) => hmac(key, message));
  return judge(candidate, matching(candidate.mac, macs));
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
