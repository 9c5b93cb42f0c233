// Which forgeries are refused by us, by @sigstore/verify and by in-toto's Python packages.
import { createPublicKey } from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { describe, expect, it, test } from 'vitest';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { artifactText } from '../../src/subject.ts';
import { cli } from '../cli/harness.ts';
import { fakeClock } from '../fake-clock.ts';
import { type Forgery, forgeries } from './forgeries.ts';
import { baseUrl, gateReceipt, subjects } from './gate-receipt.ts';
import { isMissing, run } from './python.ts';
import { commit, outcomeOf, trusted } from './table.ts';

const hour = 3_600_000;
const { envelope, bundle, statement, endedAt } = await gateReceipt();
const genuine = { envelope: JSON.stringify(envelope), bundle };
const forged = await Promise.all(
  forgeries.map(async (forgery) => ({ ...forgery, forms: await forgery.forge(envelope, statement) })),
);

const facts = {
  repository: 'acme/shop',
  project: 'shop',
  process: 'checkout',
  environment: 'staging',
  baseUrl,
  requireDeployed: true,
};
const sought = [subjects.image, subjects.file].map(artifactText);

/** Runs `receipt verify` with everything that can be expected. Returns the exit code, and the checks that failed. */
async function verified(receipt: string) {
  const policy = { keys: ['ci.pub'], gates: ['web'], maxAge: '24h', ...facts };
  const { code, out } = await cli(
    [
      ...['receipt', 'verify', 'r.json', '--policy', 'receipt-policy.json', '--commit', commit, '--json'],
      ...sought.flatMap((subject) => ['--subject', subject]),
    ],
    {
      clock: fakeClock(endedAt + hour),
      files: {
        'r.json': receipt,
        'receipt-policy.json': JSON.stringify(policy),
        'ci.pub': trusted.publicPem,
      },
    },
  );
  const { missing, receipts } = JSON.parse(out);
  const failed = receipts[0].checks.flatMap(({ check, status }: Record<string, string>) =>
    status === 'failed' ? [check] : [],
  );
  // A receipt that is refused is that of no gate.
  if (failed.length === 0 && missing.length > 0) failed.push('--gate');
  return { code, failed };
}

const libraryOutcome = async (receipt: string) =>
  (
    await outcomeOf(verifyReceipt, {
      receipt,
      keys: trusted.publicPem,
      commit,
      subjects: sought,
      ...facts,
      maxAgeMs: 24 * hour,
      now: new Date(endedAt + hour),
    })
  ).outcome;

const trustMaterial = toTrustMaterial(
  { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] } as never,
  {
    [trusted.id]: {
      rawBytes: createPublicKey(trusted.publicPem).export({ format: 'der', type: 'spki' }),
    } as never,
  },
);
const thresholds = { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 };

function sigstoreAnswer(bundle: string): Forgery['sigstore'] {
  try {
    new Verifier(trustMaterial, thresholds).verify(toSignedEntity(bundleFromJSON(JSON.parse(bundle))));
    return 'accepts';
  } catch {
    return 'refuses';
  }
}

describe('the receipt of a gate', () => {
  it.each(Object.entries(genuine))('is accepted as a file with the form %s', async (_form, receipt) => {
    expect(await verified(receipt)).toEqual({ code: 0, failed: [] });
    expect(await libraryOutcome(receipt)).toBe('PASSED');
  });

  it('is accepted by @sigstore/verify', () => {
    expect(sigstoreAnswer(genuine.bundle)).toBe('accepts');
  });
});

it('a gate whose page shows a digest of no subject ends with mismatch, and its receipt is refused', async () => {
  const { code, out, ...other } = await gateReceipt('0d'.repeat(32));
  expect([code, JSON.parse(out).gates[0].runs[0].verdict]).toEqual([8, 'mismatch']);
  expect(await verified(other.bundle)).toEqual({ code: 1, failed: ['result', 'deployed'] });
});

test('there are 31 forgeries, each with another name', () => {
  expect(new Set(forgeries.map(({ name }) => name)).size).toBe(31);
  expect(forgeries).toHaveLength(31);
});

describe.each(forged)('$name ($signer)', ({ forms, check, sigstore }) => {
  const files = [forms.envelope, forms.bundle].filter((text) => text !== null);

  it(`is refused by our check ${check}, and by no other`, async () => {
    for (const receipt of files) {
      expect(await verified(receipt)).toEqual({ code: 1, failed: [check] });
      // The library leaves the gate to its caller.
      expect(await libraryOutcome(receipt)).toBe(check === '--gate' ? 'PASSED' : check);
    }
  });

  it('has the expected result in @sigstore/verify', () => {
    expect(sigstoreAnswer(forms.bundle)).toBe(sigstore);
  });
});

// With securesystemslib, Debian's in-toto signs and verifies.
it.skipIf(isMissing)("in-toto's Python packages accept the receipt, and refuse what the table says", () => {
  const rows = forged.filter(({ inToto }) => inToto !== null);
  const envelopes = [genuine.envelope, ...rows.map(({ forms }) => forms.envelope)];
  const [first, ...others]: boolean[] = run({ action: 'accepted', envelopes });
  expect(first).toBe(true);
  expect(others.map((accepts, at) => [rows[at]?.name, accepts ? 'accepts' : 'refuses'])).toEqual(
    rows.map(({ name, inToto }) => [name, inToto]),
  );
});
