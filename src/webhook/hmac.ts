import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { matching } from './verify.ts';

/** HMAC-SHA256 with this key, to be fed the message (interface, section 6). */
export function openHmac(key: string | Uint8Array): Hmac {
  return createHmac('sha256', key);
}

/** Which of the MACs is the one that was sent, as hex, or -1. All are compared, each in constant time. */
export function indexOfMac(macs: readonly Uint8Array[], sentHex: string): number {
  const sent = Buffer.from(sentHex, 'hex');
  return matching(macs, (mac) => mac.length === sent.length && timingSafeEqual(mac, sent));
}

/** Hashes a body as it comes, once for each key, and keeps its first bytes where they are wanted. */
export interface Hashed {
  macs: readonly Uint8Array[];
  bytes: number;
  /** The body, unless it is longer than what was to be kept. */
  kept: Uint8Array | null;
}

/** HMAC-SHA256 over `<timestamp>.<body>` with each key, in constant memory but for what is kept. */
export async function hashBody(
  timestamp: string,
  body: AsyncIterable<Uint8Array>,
  keys: readonly string[],
  keep = 0,
): Promise<Hashed> {
  const hmacs = keys.map((key) => openHmac(key).update(`${timestamp}.`));
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    for (const hmac of hmacs) hmac.update(chunk);
    // A copy: a part holds only until the next is asked for.
    if (bytes <= keep) kept.push(new Uint8Array(chunk));
    else kept.length = 0;
  }
  return {
    macs: hmacs.map((hmac) => hmac.digest()),
    bytes,
    kept: bytes <= keep ? Buffer.concat(kept) : null,
  };
}
