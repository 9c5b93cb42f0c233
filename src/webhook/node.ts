import { createHmac, timingSafeEqual } from 'node:crypto';
import { asWebhookError } from './error.ts';
import type { Key, Signed, SignOptions, Verified, VerifyOptions } from './options.ts';
import { judgeDelivery, readSignOptions, readUnchecked, signed } from './verify.ts';

export * from './web.ts';

/** Returns the HMAC-SHA256 of `<timestamp>.<body>`. */
function hmac(key: Key, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${timestamp}.`).update(body).digest();
}

/**
 * Signs like `sign`, but synchronously.
 * @example
 * ```ts
 * import { signSync } from 'rungate/webhook/node';
 *
 * const { timestamp, signature } = signSync({ body: '{"event":"run.completed"}', secret: 'whsec_1' });
 * ```
 */
export function signSync(options: SignOptions): Signed {
  try {
    const { timestamp, key, body } = readSignOptions(options);
    return signed(timestamp, hmac(key, timestamp, body).toString('hex'));
  } catch (error) {
    throw asWebhookError(error);
  }
}

/**
 * Verifies like `verify`, but synchronously.
 * @example
 * ```ts
 * import { signSync, verifySync } from 'rungate/webhook/node';
 *
 * const body = '{"event":"run.completed"}'; // the raw body of the request
 * const { timestamp, signature } = signSync({ body, secret: 'whsec_1' });
 * const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
 * const { ageSeconds } = verifySync({ body, headers, secrets: 'whsec_1' });
 * ```
 */
export function verifySync(options: VerifyOptions): Verified {
  try {
    const candidate = readUnchecked(options);
    const macs = candidate.keys.map((key) => hmac(key, candidate.timestamp, candidate.body));
    const sent = Buffer.from(candidate.mac, 'hex');
    const matches = macs.map((mac) => timingSafeEqual(mac, sent));
    return judgeDelivery(candidate, matches);
  } catch (error) {
    throw asWebhookError(error);
  }
}
