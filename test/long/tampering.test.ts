import { describe, expect, it } from 'vitest';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { artifactText } from '../../src/subject.ts';
import { cli } from '../cli/harness.ts';
import { fakeClock } from '../fake-clock.ts';
import { content, gateReceipt, subjects } from '../receipt/gate-receipt.ts';
import { commit, outcomeOf, trusted } from '../receipt/table.ts';

const { envelope, endedAt } = await gateReceipt();
const verified = (receipt: Uint8Array) =>
  outcomeOf(verifyReceipt, {
    receipt,
    keys: trusted.publicPem,
    commit,
    subjects: [subjects.image, subjects.file].map(artifactText),
    requireDeployed: true,
    now: new Date(endedAt),
  });

const replaced = (bytes: Buffer, at: number, byte: number) => {
  const copy = Buffer.from(bytes);
  copy[at] = byte;
  return copy;
};

/** A part of a file in which a byte can be changed, by its text, and the bytes that it can be changed to. */
type Part = readonly [name: string, text: RegExp, to: RegExp];

/** A low bit, the one of capital letters and the highest one, and the characters of JSON and base64. */
const severalFor = (byte: number) => [...[1, 0x20, 0x80].map((bit) => byte ^ bit), ...Buffer.from(' "A=')];

/**
 * Changes a byte of a file, at each position. Returns the names of the parts in which a change was accepted, and each accepted change
 * elsewhere.
 */
async function looseParts(
  file: Buffer,
  parts: readonly Part[],
  isAccepted: (copy: Buffer) => Promise<boolean>,
): Promise<string[]> {
  const text = file.toString('latin1');
  const places = parts.flatMap(([name, part, to]) =>
    [...text.matchAll(part)].map(({ index, 0: { length } }) => ({
      name,
      start: index,
      end: index + length,
      to,
    })),
  );
  const found = new Set<string>();
  for (const [at, byte] of file.entries()) {
    const replacements = new Set(severalFor(byte));
    replacements.delete(byte);
    for (const replacement of replacements) {
      const copy = replaced(file, at, replacement);
      if (!(await isAccepted(copy))) continue;
      const char = String.fromCharCode(replacement);
      const place = places.find(({ start, end, to }) => at >= start && at < end && to.test(char));
      found.add(place?.name ?? `byte ${at}: ${JSON.stringify(text.slice(at - 10, at + 10))} to ${char}`);
    }
  }
  return [...found];
}

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

const { keyid = '' } = envelope.signatures[0] ?? {};
const any = /./s;
const namesOf = (parts: readonly Part[]) => parts.map(([name]) => name);
const receipt = Buffer.from(JSON.stringify(envelope));
/** Nothing vouches for the key id. */
const loose: readonly Part[] = [
  ['name of the key id', /keyid/g, any],
  ['key id', new RegExp(keyid, 'g'), any],
];
const original = contentOf(receipt);

it('only the key id can be changed, by any single byte at any position', async () => {
  const isAccepted = async (copy: Buffer) => {
    const { outcome } = await verified(copy);
    if (outcome === 'PASSED') expect(contentOf(copy)).toBe(original);
    else expect(outcome).toMatch(/^(envelope|signature)$/);
    return outcome === 'PASSED';
  };
  expect(await looseParts(receipt, loose, isAccepted)).toEqual(namesOf(loose));
});

it('no byte can be removed or added in the payload, its type or the signature', async () => {
  for (let at = 0; at < receipt.length; at += 1) {
    const [before, after] = [receipt.subarray(0, at), receipt.subarray(at)];
    for (const copy of [
      Buffer.concat([before, after.subarray(1)]),
      Buffer.concat([before, Buffer.from('A'), after]),
    ]) {
      const { outcome } = await verified(copy);
      if (outcome === 'PASSED') expect(contentOf(copy)).toBe(original);
    }
  }
});

describe('receipt verify', () => {
  const files = { 'shop.tar': content, 'ci.pub': trusted.publicPem };
  /** Returns the exit code, with another file. */
  async function exitCode(more: Partial<Record<keyof typeof files, Buffer>> = {}) {
    const sought = ['--subject-file', 'shop.tar', '--subject', artifactText(subjects.image)];
    const { code } = await cli(['receipt', 'verify', 'r.json', '--key', 'ci.pub', ...sought], {
      clock: fakeClock(endedAt),
      files: { 'r.json': receipt, ...files, ...more },
    });
    return code;
  }
  it('accepts the receipt of the gate', async () => {
    expect(await exitCode()).toBe(0);
  });

  it.each<[keyof typeof files, readonly Part[]]>([
    ['shop.tar', []],
    [
      'ci.pub',
      [
        ['line break in PEM', /\n(?=.)/g, /\s/],
        ['byte after PEM', /\n$/g, any],
      ],
    ],
  ])('refuses any other byte of %s, except in the listed parts', async (name, loose) => {
    const isAccepted = async (copy: Buffer) => {
      const code = await exitCode({ [name]: copy });
      expect([0, 1, 64]).toContain(code);
      return code === 0;
    };
    expect(await looseParts(Buffer.from(files[name]), loose, isAccepted)).toEqual(namesOf(loose));
  });
});
