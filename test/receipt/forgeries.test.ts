// Receipts that must be refused: each fails one of our checks. in-toto's Python packages check only the signature and the form.
import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/receipt/dsse.ts';
import type { CheckName } from '../../src/receipt/error.ts';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { factsOf, payloadType, type ReceiptFacts, type Statement } from '../../src/receipt/statement.ts';
import { artifactText } from '../../src/subject.ts';
import { cli } from '../cli/harness.ts';
import { fakeClock } from '../fake-clock.ts';
import { baseUrl, gateReceipt, subjects } from './gate-receipt.ts';
import { commit, outcomeOf, sealed, stranger, trusted } from './table.ts';

type Answer = 'accepts' | 'refuses';

interface Forgery {
  name: string;
  /** Whose signature it has. */
  signer: 'unsigned change' | 'another key' | 'our key';
  /** Our check that refuses it; of these checks, it fails only this one. */
  check: CheckName | '--gate';
  inToto: Answer;
  /** Returns an envelope or the text of a file. */
  forge(envelope: Envelope, statement: Statement): Promise<object | string> | object | string;
}

type Content = {
  readonly statement: Statement;
  readonly facts: { -readonly [Name in keyof ReceiptFacts]: ReceiptFacts[Name] };
};

/** Changes a copy of the statement. Returns its text. */
function changed(statement: Statement, change: (content: Content) => object): string {
  const copy = structuredClone(statement);
  return JSON.stringify({ ...copy, ...change({ statement: copy, facts: factsOf(copy) }) });
}
const encoded = (text: string) => Buffer.from(text).toString('base64');

/** A forgery by someone who has no key, from the genuine receipt. */
const tampered = (name: string, check: CheckName, inToto: Answer, forge: Forgery['forge']): Forgery => ({
  name,
  signer: 'unsigned change',
  check,
  inToto,
  forge,
});

/** A receipt that our key signed, about something else than expected. */
const signed = (name: string, check: Forgery['check'], change: (content: Content) => object): Forgery => ({
  name,
  signer: 'our key',
  check,
  inToto: 'accepts',
  forge: (_envelope, statement) => sealed(changed(statement, change)),
});

const withResult = (result: 'FAILED' | 'WARNED') => (content: Content) => {
  content.facts.runs = content.facts.runs.map((run) => ({ ...run, result, verdict: 'failed' }));
  return { predicate: { ...content.statement.predicate, result } };
};
const withRun =
  (more: object) =>
  ({ facts }: Content) => {
    facts.runs = facts.runs.map((run) => ({ ...run, ...more }));
    return {};
  };
const withFacts =
  (more: Partial<ReceiptFacts>) =>
  ({ facts }: Content) => {
    Object.assign(facts, more);
    return {};
  };

const otherDigest = '0d'.repeat(32);

/** The order of the group of Ed25519. */
const order = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Adds the order to the second half of a signature, which a lax verifier ignores. */
function malleated(sig: string): string {
  const bytes = Buffer.from(sig, 'base64');
  const scalar = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
  const half = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse();
  return Buffer.concat([bytes.subarray(0, 32), half]).toString('base64');
}

const forgeries: readonly Forgery[] = [
  tampered('FAILED replaced with PASSED', 'signature', 'refuses', async (_envelope, statement) => {
    const failed = await sealed(changed(statement, withResult('FAILED')));
    return { ...failed, payload: encoded(JSON.stringify(statement)) };
  }),
  tampered('a subject added', 'signature', 'refuses', (envelope, statement) => {
    const added = { name: 'ghcr.io/acme/admin', digest: { sha256: otherDigest } };
    const text = JSON.stringify({ ...statement, subject: [...statement.subject, added] });
    return { ...envelope, payload: encoded(text) };
  }),
  tampered('the same signature as other bytes (S + L)', 'signature', 'refuses', (envelope) => ({
    ...envelope,
    signatures: envelope.signatures.map((one) => ({ ...one, sig: malleated(one.sig) })),
  })),
  tampered('two receipts in one file, as JSON lines', 'envelope', 'refuses', async (envelope, statement) => {
    const failed = await sealed(changed(statement, withResult('FAILED')));
    return `${JSON.stringify(failed)}\n${JSON.stringify(envelope)}\n`;
  }),
  tampered('a second payload before the signed one', 'envelope', 'accepts', (envelope, statement) => {
    const text = changed(statement, withResult('FAILED'));
    return JSON.stringify(envelope).replace('{', `{"payload":"${encoded(text)}",`);
  }),
  {
    name: 'signed by another key, with our key id',
    signer: 'another key',
    check: 'signature',
    inToto: 'refuses',
    async forge(_envelope, statement) {
      const { signatures, ...rest } = await sealed(JSON.stringify(statement), stranger.privatePem);
      return { ...rest, signatures: signatures.map(({ sig }) => ({ keyid: trusted.id, sig })) };
    },
  },
  {
    name: 'another payload type',
    signer: 'our key',
    check: 'payload_type',
    inToto: 'accepts',
    forge: (_envelope, statement) =>
      sealed(JSON.stringify(statement), trusted.privatePem, payloadType.replace('+', '.v2+')),
  },
  signed('another predicate, SLSA provenance', 'statement', () => ({
    predicateType: 'https://slsa.dev/provenance/v1',
  })),
  {
    name: 'two results, FAILED and PASSED',
    signer: 'our key',
    check: 'duplicate_keys',
    inToto: 'accepts',
    forge: (_envelope, statement) =>
      sealed(JSON.stringify(statement).replace('"result":', '"result":"FAILED","result":')),
  },
  signed('PASSED above a run that failed', 'statement', withRun({ result: 'FAILED', verdict: 'failed' })),
  signed('FAILED', 'result', withResult('FAILED')),
  signed('another commit', 'commit', ({ statement: { subject } }) => {
    const [commit, ...artifacts] = subject;
    return { subject: [{ ...commit, digest: { gitCommit: otherDigest.slice(0, 40) } }, ...artifacts] };
  }),
  signed('the digest of an image abbreviated', 'statement', ({ statement: { subject } }) => ({
    subject: subject.map((one) =>
      'sha256' in one.digest ? { ...one, digest: { sha256: one.digest.sha256.slice(0, 12) } } : one,
    ),
  })),
  signed('an image before the commit', 'statement', ({ statement: { subject } }) => ({
    subject: subject.toReversed(),
  })),
  signed('the digest of another image', 'subject', ({ statement: { subject }, facts }) => {
    const [commit, image, ...files] = subject;
    if (facts.deployed !== undefined) facts.deployed.expected = commit.digest.gitCommit;
    return { subject: [commit, { ...image, digest: { sha256: otherDigest } }, ...files] };
  }),
  signed('another repository', 'repository', ({ statement: { subject } }) => {
    const [commit, ...artifacts] = subject;
    return { subject: [{ ...commit, name: 'acme/fork' }, ...artifacts] };
  }),
  signed('another process', 'process', withRun({ process: 'smoke' })),
  signed('another gate', '--gate', withFacts({ gate: 'smoke' })),
  signed('another build was deployed', 'deployed', ({ facts }) => {
    if (facts.deployed !== undefined) facts.deployed = { ...facts.deployed, matches: false };
    return {};
  }),
  signed('expired', 'age', ({ facts }) => {
    facts.finishedAt = new Date(Date.parse(facts.finishedAt) - 25 * hour).toISOString();
    return {};
  }),
];

const hour = 3_600_000;
const { envelope, statement, endedAt } = await gateReceipt();
const genuine = JSON.stringify(envelope);
const forged = await Promise.all(
  forgeries.map(async (forgery) => {
    const file = await forgery.forge(envelope, statement);
    return { ...forgery, file: typeof file === 'string' ? file : JSON.stringify(file) };
  }),
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
  const argv = ['receipt', 'verify', 'r.json', '--key', 'ci.pub', '--commit', commit, '--gate', 'web'];
  const expected = ['--repository', facts.repository, '--project', facts.project, '--process', facts.process];
  const place = ['--environment', facts.environment, '--base-url', baseUrl, '--require-deployed'];
  const subject = sought.flatMap((one) => ['--subject', one]);
  const { code, out } = await cli(
    [...argv, ...expected, ...place, ...subject, '--max-age', '24h', '--json'],
    {
      clock: fakeClock(endedAt + hour),
      files: { 'r.json': receipt, 'ci.pub': trusted.publicPem },
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

it('the receipt of a gate is accepted', async () => {
  expect(await verified(genuine)).toEqual({ code: 0, failed: [] });
  expect(await libraryOutcome(genuine)).toBe('PASSED');
});

it('a gate whose page shows a digest of no subject ends with mismatch, and its receipt is refused', async () => {
  const { code, out, ...other } = await gateReceipt('0d'.repeat(32));
  expect([code, JSON.parse(out).gates[0].runs[0].verdict]).toEqual([8, 'mismatch']);
  expect(await verified(JSON.stringify(other.envelope))).toEqual({ code: 1, failed: ['result', 'deployed'] });
});

it.each(forged)(
  '$name ($signer) is refused by our check $check, and by no other',
  async ({ file, check }) => {
    expect(await verified(file)).toEqual({ code: 1, failed: [check] });
    // The library leaves the gate to its caller.
    expect(await libraryOutcome(file)).toBe(check === '--gate' ? 'PASSED' : check);
  },
);

const python = '/usr/bin/python3';
/** `.ci/run` requires Debian's packages in-toto and python3-securesystemslib. Elsewhere, the tests are skipped without them. */
const isMissing =
  !process.env.REQUIRE_TOOLS && spawnSync(python, ['-c', 'import in_toto, securesystemslib']).status !== 0;

/** Runs the Python program, which trusts our key. */
function run(input: object) {
  const der = createPublicKey(trusted.publicPem).export({ format: 'der', type: 'spki' });
  const key = { keyid: trusted.id, public: der.subarray(-32).toString('hex') };
  const script = fileURLToPath(new URL('verify_receipt.py', import.meta.url));
  const { stdout, stderr, status } = spawnSync(python, [script], {
    input: JSON.stringify({ ...key, ...input }),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

describe.skipIf(isMissing)("in-toto's Python packages", () => {
  it('accept the receipt, read its statement, and refuse what the table says', () => {
    const envelopes = [genuine, ...forged.map(({ file }) => file)];
    const [first, ...others]: boolean[] = run({ action: 'accepted', envelopes });
    expect(first).toBe(true);
    expect(others.map((accepts, at) => [forged[at]?.name, accepts ? 'accepts' : 'refuses'])).toEqual(
      forged.map(({ name, inToto }) => [name, inToto]),
    );
    expect(run({ action: 'verify', envelope })).toEqual({ verified: [true], statement });
  });

  it('make a receipt that we verify, under their key only', async () => {
    const { envelope: theirs, public: raw } = run({
      action: 'sign',
      payload: JSON.stringify(statement),
      payloadType,
    });
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(raw, 'hex')]);
    const pem = createPublicKey({ key: der, format: 'der', type: 'spki' }).export({
      format: 'pem',
      type: 'spki',
    });
    const receipt = JSON.stringify(theirs);
    const now = new Date(endedAt + hour);
    const outcome = await outcomeOf(verifyReceipt, { receipt, keys: String(pem), commit, now });
    expect(outcome.outcome).toBe('PASSED');
    expect(await libraryOutcome(receipt)).toBe('signature');
  });
});
