import type { Message, Signed, SignOptions, Verified, VerifyOptions } from './options.ts';
import { judge, matching, messageOf, readCandidate, readSignOptions, signed } from './verify.ts';

export * from './public.ts';

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Keys that were imported already: importing costs more than signing. */
const keys = new Map<string, Promise<CryptoKey>>();
/** A rotation has two secrets or three; more would be a leak of memory and of secrets. */
const mostKeys = 16;

function importKey(raw: Uint8Array): Promise<CryptoKey> {
  const name = raw.join();
  const known = keys.get(name);
  if (known !== undefined) return known;
  const [oldest] = keys.keys();
  if (keys.size >= mostKeys && oldest !== undefined) keys.delete(oldest);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  // A copy: the caller's bytes may change, and may lie in memory that is shared.
  const key = crypto.subtle.importKey('raw', new Uint8Array(raw), algorithm, false, ['sign']);
  keys.set(name, key);
  return key;
}

async function hmac(key: Uint8Array, { prefix, body }: Message): Promise<Uint8Array> {
  const bytes = new Uint8Array(prefix.length + body.length);
  bytes.set(prefix);
  bytes.set(body, prefix.length);
  return new Uint8Array(await crypto.subtle.sign('HMAC', await importKey(key), bytes));
}

/**
 * Signs a body as the service signs its deliveries (interface, section 6).
 * @throws WebhookVerificationError and nothing else
 */
export async function sign(options: SignOptions): Promise<Signed> {
  const { timestamp, key, message } = readSignOptions(options);
  return signed(timestamp, await hmac(key, message));
}

/**
 * Verifies a delivery: raw bytes in, and nothing decoded before the MAC is right.
 * @throws WebhookVerificationError and nothing else
 */
export async function verify(options: VerifyOptions): Promise<Verified> {
  const candidate = readCandidate(options);
  const message = messageOf(candidate.timestamp, options.body);
  const macs = await Promise.all(candidate.keys.map((key) => hmac(key, message)));
  return judge(candidate, matching(candidate.mac, macs));
}
