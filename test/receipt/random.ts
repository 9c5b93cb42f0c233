import fc from 'fast-check';
import { expect } from 'vitest';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { commit, finishedAt, outcomeOf, sealed, second, statement, stranger, trusted } from './table.ts';

const text = JSON.stringify(statement);
const now = new Date(Date.parse(finishedAt) + 1000);

/** The true receipt, and receipts that must never be accepted. */
const good = await sealed(text);
const bad = await Promise.all([
  sealed(text, stranger.privatePem),
  sealed(text.replaceAll('"PASSED"', '"FAILED"')),
  sealed(text.replaceAll('"PASSED"', '"WARNED"')),
  sealed(text.replace(commit, '0'.repeat(40))),
  sealed(text.replace('"result"', '"result":"PASSED","result"')),
  sealed(text, trusted.privatePem, 'application/json'),
  sealed('{}'),
]);
const envelopes = [good, ...bad];

const part = <T>(pick: (envelope: typeof good) => T) => fc.constantFrom(...envelopes.map(pick));
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.base64String({ maxLength: 100 }),
  fc.constant(undefined),
);
const mostly = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: junk });

/** Envelopes of parts of true and false ones. */
const envelope = fc.record(
  {
    payload: mostly(part(({ payload }) => payload)),
    payloadType: mostly(part(({ payloadType }) => payloadType)),
    signatures: mostly(
      fc.array(mostly(part(({ signatures }) => signatures[0])), { minLength: 1, maxLength: 3 }),
    ),
    extra: junk,
  },
  { requiredKeys: ['payload', 'payloadType', 'signatures'] },
);

/** Texts: envelopes, with some characters replaced, or any text. */
const receipt = fc.oneof(
  { weight: 6, arbitrary: envelope.map((value) => JSON.stringify(value)) },
  {
    weight: 3,
    arbitrary: fc.tuple(envelope, fc.nat(), fc.string({ maxLength: 4 })).map(([value, at, inserted]) => {
      const json = JSON.stringify(value);
      const place = at % json.length;
      return json.slice(0, place) + inserted + json.slice(place + inserted.length);
    }),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 200 }) },
);

/** Tells whether a lax reader takes the true statement from an envelope. */
function isTrue(json: string): boolean {
  const { payload, payloadType, signatures } = JSON.parse(json);
  const [own] = good.signatures;
  return (
    Buffer.from(payload, 'base64').toString() === text &&
    payloadType === good.payloadType &&
    signatures.some(({ sig }: { sig: string }) =>
      Buffer.from(sig, 'base64').equals(Buffer.from(own?.sig ?? '', 'base64')),
    )
  );
}

/** Verifies random envelopes. Returns the number of each outcome. */
export async function outcomesOf(count: number): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  const keys = [second.publicPem, trusted.publicPem];
  await fc.assert(
    fc.asyncProperty(receipt, async (json) => {
      const { outcome } = await outcomeOf(verifyReceipt, { receipt: json, keys, commit, now });
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (outcome === 'PASSED') expect(isTrue(json)).toBe(true);
      else expect(outcome).toMatch(/^[a-z_]+$/);
    }),
    { numRuns: count },
  );
  return outcomes;
}
