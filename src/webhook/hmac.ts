import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { indexOfMatch } from './verify.ts';

/** Returns an HMAC-SHA256 with this key, ready for the message. */
export function openHmac(key: string | Uint8Array): Hmac {
  return createHmac('sha256', key);
}

/** Returns the index of the MAC that was sent (in hex), or -1. Compares all of them, each in constant time. */
export function indexOfMac(macs: readonly Uint8Array[], sentHex: string): number {
  const sent = Buffer.from(sentHex, 'hex');
  return indexOfMatch(macs, (mac) => mac.length === sent.length && timingSafeEqual(mac, sent));
}

export interface HashedBody {
  /** One MAC for each key. */
  macs: readonly Uint8Array[];
  bytes: number;
  /** The body, or null if it is longer than `maxKept`. */
  body: Uint8Array | null;
}

/**
 * Streams a body through HMAC-SHA256 over `<timestamp>.<body>` with each key, in constant memory.
 * @param maxKept bodies of up to this many bytes are also returned
 */
export async function hashBody(
  timestamp: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  keys: readonly string[],
  maxKept = 0,
): Promise<HashedBody> {
  const hmacs = keys.map((key) => openHmac(key).update(`${timestamp}.`));
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    for (const hmac of hmacs) hmac.update(chunk);
    // A copy, because the source may reuse the chunk's buffer for the next chunk.
    if (bytes <= maxKept) kept.push(new Uint8Array(chunk));
    else kept.length = 0;
  }
  return {
    macs: hmacs.map((hmac) => hmac.digest()),
    bytes,
    body: bytes <= maxKept ? Buffer.concat(kept) : null,
  };
}
