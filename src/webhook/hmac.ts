import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA256 with this key, to be fed the message (interface, section 6). */
export function openHmac(key: string | Uint8Array): Hmac {
  return createHmac('sha256', key);
}

/** Whether two MACs are the same, in a time that depends on their lengths alone. */
export function equalMacs(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
