import { expect, it } from 'vitest';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { commit, outcomeOf, sealed, statement, trusted } from '../receipt/table.ts';

const envelope = await sealed(JSON.stringify(statement));
const bytes = Buffer.from(JSON.stringify(envelope));
const now = new Date('2026-11-22T13:00:00Z');
const verified = (receipt: Uint8Array) =>
  outcomeOf(verifyReceipt, { receipt, keys: trusted.publicPem, commit, now });

/** Returns what a lax reader takes from an envelope: everything that is signed, and the signature; null if it cannot read it. */
function contentOf(receipt: Buffer): string | null {
  try {
    const { payload, payloadType, signatures } = JSON.parse(receipt.toString());
    const decoded = [payload, signatures[0].sig].map((text) => Buffer.from(text, 'base64').toString('hex'));
    return JSON.stringify([payloadType, ...decoded]);
  } catch {
    return null;
  }
}

it('no single byte of the payload, its type or the signature can be changed, at any position', async () => {
  const original = contentOf(bytes);
  const accepted: string[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    // A low bit, the one of capital letters, the highest one, and the characters of JSON and base64.
    const flipped = [1, 0x20, 0x80].map((bit) => byte ^ bit);
    const replacements = new Set([...flipped, ...Buffer.from(' "A=')]);
    replacements.delete(byte);
    for (const replacement of replacements) {
      const copy = Buffer.from(bytes);
      copy[at] = replacement;
      const { outcome } = await verified(copy);
      if (outcome !== 'PASSED') expect(outcome).toMatch(/^(envelope|signature)$/);
      else if (contentOf(copy) !== original) accepted.push(`byte ${at}: ${byte} to ${replacement}`);
    }
  }
  expect(accepted).toEqual([]);
});

it('no byte can be removed or added in the payload, its type or the signature', async () => {
  const original = contentOf(bytes);
  for (let at = 0; at < bytes.length; at += 1) {
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    for (const copy of [
      Buffer.concat([before, after.subarray(1)]),
      Buffer.concat([before, Buffer.from('A'), after]),
    ]) {
      const { outcome } = await verified(copy);
      if (outcome === 'PASSED') expect(contentOf(copy)).toBe(original);
    }
  }
});
