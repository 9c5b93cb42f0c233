import { describe, expect, it } from 'vitest';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { artifactText } from '../../src/subject.ts';
import { cli } from '../cli/harness.ts';
import { fakeClock } from '../fake-clock.ts';
import { content, gateReceipt, subjects } from '../receipt/gate-receipt.ts';
import { commit, outcomeOf, trusted } from '../receipt/table.ts';

const { bundle, envelope, endedAt } = await gateReceipt();
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
  replacementsFor: (byte: number) => readonly number[] = severalFor,
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
    const replacements = new Set(replacementsFor(byte));
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
    const file = JSON.parse(receipt.toString());
    const { payload, payloadType, signatures } = file.dsseEnvelope ?? file;
    const decoded = [payload, signatures[0].sig].map((text) => Buffer.from(text, 'base64').toString('hex'));
    return JSON.stringify([payloadType, ...decoded]);
  } catch {
    return null;
  }
}

const { keyid = '' } = envelope.signatures[0] ?? {};
const any = /./s;
const namesOf = (parts: readonly Part[]) => parts.map(([name]) => name);
/** The list is empty, so nothing is lost without it. */
const looseInBundle: readonly Part[] = [
  ['name of the list of log entries', /tlogEntries/g, any],
  ['line break at the end', /\n$/g, /\s/],
];
const forms = [
  {
    form: 'an envelope',
    file: Buffer.from(JSON.stringify(envelope)),
    // Nothing vouches for the key id.
    loose: [
      ['name of the key id', /keyid/g, any],
      ['key id', new RegExp(keyid, 'g'), any],
    ] as readonly Part[],
  },
  { form: 'a bundle', file: Buffer.from(bundle), loose: looseInBundle },
];

describe.each(forms)('in $form', ({ file, loose }) => {
  it('only the listed parts can be changed, by any single byte at any position', async () => {
    const original = contentOf(file);
    const isAccepted = async (copy: Buffer) => {
      const { outcome } = await verified(copy);
      if (outcome === 'PASSED') expect(contentOf(copy)).toBe(original);
      else expect(outcome).toMatch(/^(envelope|signature)$/);
      return outcome === 'PASSED';
    };
    expect(await looseParts(file, loose, isAccepted)).toEqual(namesOf(loose));
  });

  it('no byte can be removed or added in the payload, its type or the signature', async () => {
    const original = contentOf(file);
    for (let at = 0; at < file.length; at += 1) {
      const [before, after] = [file.subarray(0, at), file.subarray(at)];
      for (const copy of [
        Buffer.concat([before, after.subarray(1)]),
        Buffer.concat([before, Buffer.from('A'), after]),
      ]) {
        const { outcome } = await verified(copy);
        if (outcome === 'PASSED') expect(contentOf(copy)).toBe(original);
      }
    }
  });
});

it('no bit of the first 300 bytes of the payload or of the signature can be changed', async () => {
  const payload = Buffer.from(envelope.payload, 'base64');
  const sig = Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64');
  const flipped = function* (bytes: Buffer, count: number) {
    for (let bit = 0; bit < 8 * count; bit += 1)
      yield replaced(bytes, bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))).toString('base64');
  };
  const outcomes = new Set<string>();
  for (const other of flipped(payload, 300))
    outcomes.add((await verified(Buffer.from(JSON.stringify({ ...envelope, payload: other })))).outcome);
  for (const other of flipped(sig, 64)) {
    const signatures = [{ keyid, sig: other }];
    outcomes.add((await verified(Buffer.from(JSON.stringify({ ...envelope, signatures })))).outcome);
  }
  expect([...outcomes]).toEqual(['signature']);
});

describe('receipt verify with a policy file', () => {
  const files = { 'r.sigstore.json': bundle, 'shop.tar': content, 'ci.pub': trusted.publicPem };
  const policy = {
    keys: ['ci.pub'],
    gates: ['web'],
    repository: 'acme/shop',
    environment: 'staging',
    requireDeployed: true,
    maxAge: '24h',
  };
  /** Returns the exit code, with another file. */
  async function exitCode(more: Partial<Record<keyof typeof files, Buffer>> = {}) {
    const all = { ...files, ...more, 'receipt-policy.json': JSON.stringify(policy) };
    const sought = ['--subject-file', 'shop.tar', '--subject', artifactText(subjects.image)];
    const argv = ['r.sigstore.json', '--policy', 'receipt-policy.json', ...sought];
    return (await cli(['receipt', 'verify', ...argv], { clock: fakeClock(endedAt), files: all })).code;
  }
  it('accepts the receipt of the gate', async () => {
    expect(await exitCode()).toBe(0);
  });

  it.each<[keyof typeof files, readonly Part[]]>([
    ['r.sigstore.json', looseInBundle],
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
    // The receipt is long, and the library has tried more.
    const isReceipt = name === 'r.sigstore.json';
    const replacementsFor = isReceipt ? (byte: number) => [byte ^ 1, 0x20] : severalFor;
    const found = await looseParts(Buffer.from(files[name]), loose, isAccepted, replacementsFor);
    expect(found).toEqual(namesOf(loose));
  });
});
