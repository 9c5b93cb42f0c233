import { ownOptions } from '../own-options.ts';
import { asWebhookError } from './error.ts';
import { indexOfMac, openHmac } from './hmac.ts';
import {
  type Key,
  rawBodyOf,
  type Signed,
  type SignOptions,
  type Verified,
  type VerifyOptions,
} from './options.ts';
import { judgeDelivery, readSignOptions, readUnchecked, signed } from './verify.ts';

export { type WebhookErrorCode, WebhookVerificationError } from './error.ts';
export { defaultHeaderNames, type HeaderNames, type HeadersInput } from './headers.ts';
export type { Body, Secret, Signed, SignOptions, Verified, VerifyOptions } from './options.ts';

/** Returns the HMAC-SHA256 of `<timestamp>.<body>`. */
function hmac(key: Key, timestamp: string, body: string | Uint8Array): Buffer {
  return openHmac(key).update(`${timestamp}.`).update(body).digest();
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
    const body = rawBodyOf(ownOptions(options, ['body']).body);
    const macs = candidate.keys.map((key) => hmac(key, candidate.timestamp, body));
    return judgeDelivery(candidate, indexOfMac(macs, candidate.mac));
  } catch (error) {
    throw asWebhookError(error);
  }
}

/**
 * Signs a body as the service signs its deliveries.
 * @throws WebhookVerificationError, and no other error
 * @example
 * ```ts
 * import { sign } from 'rungate/webhook/node';
 *
 * const { timestamp, signature } = await sign({ body: '{"event":"run.completed"}', secret: 'whsec_1' });
 * ```
 */
export async function sign(options: SignOptions): Promise<Signed> {
  return signSync(options);
}

/**
 * Verifies a delivery. Decodes nothing before the signature is verified.
 * @throws WebhookVerificationError, and no other error
 * @example
 * ```ts
 * import { sign, verify } from 'rungate/webhook/node';
 *
 * const body = '{"event":"run.completed"}'; // the raw body of the request
 * const { timestamp, signature } = await sign({ body, secret: 'whsec_1' });
 * const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
 * const { ageSeconds } = await verify({ body, headers, secrets: 'whsec_1' });
 * ```
 */
export async function verify(options: VerifyOptions): Promise<Verified> {
  return verifySync(options);
}
