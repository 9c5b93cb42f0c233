import { asWebhookError } from './error.ts';
import type { Key, Signed, SignOptions, Verified, VerifyOptions } from './options.ts';
import { judgeDelivery, readSignOptions, readUnchecked, signed, toHex } from './verify.ts';

export { type WebhookErrorCode, WebhookVerificationError } from './error.ts';
export { defaultHeaderNames, type HeaderNames, type HeadersInput } from './headers.ts';
export type { Body, Secret, Signed, SignOptions, Verified, VerifyOptions } from './options.ts';

const encoder = new TextEncoder();

/** Returns the signed message as a copy, since the caller may change its bytes during the asynchronous signing. */
function signedMessage(timestamp: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return encoder.encode(`${timestamp}.${body}`);
  const prefix = encoder.encode(`${timestamp}.`);
  const message = new Uint8Array(prefix.length + body.length);
  message.set(prefix);
  message.set(body, prefix.length);
  return message;
}

async function hmac(secret: Key, message: Uint8Array<ArrayBuffer>): Promise<string> {
  const raw = typeof secret === 'string' ? encoder.encode(secret) : secret;
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, message)));
}

/** Compares in constant time. */
function equalHex(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index += 1) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}

/**
 * Signs a body as the service signs its deliveries.
 * @throws WebhookVerificationError, and no other error
 * @example
 * ```ts
 * import { sign } from 'rungate/webhook';
 *
 * const { timestamp, signature } = await sign({ body: '{"event":"run.completed"}', secret: 'whsec_1' });
 * ```
 */
export async function sign(options: SignOptions): Promise<Signed> {
  try {
    const { timestamp, key, body } = readSignOptions(options);
    return signed(timestamp, await hmac(key, signedMessage(timestamp, body)));
  } catch (error) {
    throw asWebhookError(error);
  }
}

/**
 * Verifies a delivery. Decodes nothing before the signature is verified.
 * @throws WebhookVerificationError, and no other error
 * @example
 * ```ts
 * import { sign, verify } from 'rungate/webhook';
 *
 * const body = '{"event":"run.completed"}'; // the raw body of the request
 * const { timestamp, signature } = await sign({ body, secret: 'whsec_1' });
 * const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
 * const { ageSeconds } = await verify({ body, headers, secrets: 'whsec_1' });
 * ```
 */
export async function verify(options: VerifyOptions): Promise<Verified> {
  try {
    const candidate = readUnchecked(options);
    const message = signedMessage(candidate.timestamp, candidate.body);
    const macs = await Promise.all(candidate.keys.map((key) => hmac(key, message)));
    const matches = macs.map((mac) => equalHex(mac, candidate.mac));
    return judgeDelivery(candidate, matches);
  } catch (error) {
    throw asWebhookError(error);
  }
}
