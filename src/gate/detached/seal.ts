import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { DetachedNames } from './entry.ts';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Only the gates have the API key, and the hub cannot find it from this one. */
const keyOf = (apiKey: string) =>
  new Uint8Array(hkdfSync('sha256', apiKey, '', 'rungate: the state of a detached gate', 32));

const boundTo = ({ id, repository, commit, context }: DetachedNames) =>
  Buffer.from(JSON.stringify([id, repository, commit, context]));

/** Returns a text that only a holder of the API key can read, or change unseen; bound to the gate's names. */
export function seal(text: string, apiKey: string, names: DetachedNames): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, keyOf(apiKey), iv).setAAD(boundTo(names));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
}

/** Returns the text, or null if it was sealed with another key or for other names, or has been changed. */
export function unseal(sealed: string, apiKey: string, names: DetachedNames): string | null {
  const bytes = Buffer.from(sealed, 'base64url');
  const [iv, tag] = [bytes.subarray(0, ivBytes), bytes.subarray(ivBytes, ivBytes + tagBytes)];
  try {
    const decipher = createDecipheriv(algorithm, keyOf(apiKey), iv, { authTagLength: tagBytes });
    decipher.setAAD(boundTo(names)).setAuthTag(tag);
    return decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}
