// Receipts that must be refused. The table in the docs is made from this one.

import { bundleOf } from '../../src/receipt/bundle.ts';
import type { Envelope } from '../../src/receipt/dsse.ts';
import type { CheckName } from '../../src/receipt/error.ts';
import { factsOf, payloadType, type ReceiptFacts, type Statement } from '../../src/receipt/statement.ts';
import { baseUrl } from './gate-receipt.ts';
import { sealed, stranger, trusted } from './table.ts';

/** A receipt as an envelope, and in a bundle. */
export interface Forms {
  /** Null if only the bundle is forged. */
  envelope: string | null;
  bundle: string;
}

type Answer = 'accepts' | 'refuses';

export interface Forgery {
  name: string;
  /** Whose signature it has. */
  signer: 'unsigned change' | 'another key' | 'our key';
  /** Our check that refuses it; of these checks, it fails only this one. */
  check: CheckName | '--gate';
  sigstore: Answer;
  /** Null for a bundle, which in-toto's packages do not read. */
  inToto: Answer | null;
  forge(envelope: Envelope, statement: Statement): Promise<Forms> | Forms;
}

/** Returns both forms of the text of an envelope, which JSON.stringify need not have written. */
function formsOf(envelope: Envelope | string, signed?: Envelope): Forms {
  if (typeof envelope !== 'string') return formsOf(JSON.stringify(envelope), envelope);
  if (signed === undefined) throw new TypeError('the signed envelope is missing');
  const bundle = JSON.stringify(bundleOf(signed)).replace(JSON.stringify(signed), () => envelope);
  return { envelope, bundle };
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

type Others = readonly [sigstore: Answer, inToto: Answer | null];
const bothAccept: Others = ['accepts', 'accepts'];
const bothRefuse: Others = ['refuses', 'refuses'];

const row = (
  name: string,
  signer: Forgery['signer'],
  check: Forgery['check'],
  [sigstore, inToto]: Others,
  forge: Forgery['forge'],
): Forgery => ({ name, signer, check, sigstore, inToto, forge });

/** A forgery by someone who has no key, from the genuine receipt. */
const tampered = (name: string, check: CheckName, others: Others, forge: Forgery['forge']): Forgery =>
  row(name, 'unsigned change', check, others, forge);

/** A receipt that our key signed, about something else than expected. */
const signed = (
  name: string,
  check: Forgery['check'],
  others: Others,
  change: (content: Content) => object,
): Forgery =>
  row(name, 'our key', check, others, async (_envelope, statement) =>
    formsOf(await sealed(changed(statement, change))),
  );

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
const hour = 3_600_000;

/** The order of the group of Ed25519. */
const order = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Adds the order to the second half of a signature, which a lax verifier ignores. */
function malleated(sig: string): string {
  const bytes = Buffer.from(sig, 'base64');
  const scalar = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
  const half = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse();
  return Buffer.concat([bytes.subarray(0, 32), half]).toString('base64');
}

/** Made by openssl req -x509 -key <our private key> -subj /CN=forger -days 36500 -outform DER | base64. */
const certificate =
  'MIIBODCB66ADAgECAhQLhGOYvVsrA376AiZ6N18nWLxTHDAFBgMrZXAwETEPMA0GA1UEAwwGZm9yZ2VyMCAXDTI2MTEyNDAyNDE0MloYDzIxMjYxMDMxMDI0MTQyWjARMQ8wDQYDVQQDDAZmb3JnZXIwKjAFBgMrZXADIQCNGu9VnQblAYtJxuHSfqp0xfZHgjKgJP3w9BQHEF2IZaNTMFEwHQYDVR0OBBYEFMOHeYwI0Mskok5Di7DF5/2oLhZ3MB8GA1UdIwQYMBaAFMOHeYwI0Mskok5Di7DF5/2oLhZ3MA8GA1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EA9dDTFsXzK9+79FsKYwmuNvwe8FZhptxWxXEMucs37ge4eKmYRd7Hyn6Wh2amAhnTAtEkZmjyotRHpclbs1rIBw==';

export const forgeries: readonly Forgery[] = [
  tampered('`FAILED` replaced with `PASSED`', 'signature', bothRefuse, async (_envelope, statement) => {
    const failed = await sealed(changed(statement, withResult('FAILED')));
    return formsOf({ ...failed, payload: encoded(JSON.stringify(statement)) });
  }),
  tampered('a subject added', 'signature', bothRefuse, (envelope, statement) => {
    const added = { name: 'ghcr.io/acme/admin', digest: { sha256: otherDigest } };
    const text = JSON.stringify({ ...statement, subject: [...statement.subject, added] });
    return formsOf({ ...envelope, payload: encoded(text) });
  }),
  tampered('the same signature as other bytes (S + L)', 'signature', bothRefuse, (envelope) =>
    formsOf({
      ...envelope,
      signatures: envelope.signatures.map((one) => ({ ...one, sig: malleated(one.sig) })),
    }),
  ),
  tampered('two receipts in one file, as JSON lines', 'envelope', bothRefuse, async (envelope, statement) => {
    const failed = formsOf(await sealed(changed(statement, withResult('FAILED'))));
    const passed = formsOf(envelope);
    return {
      envelope: `${failed.envelope}\n${passed.envelope}\n`,
      bundle: `${failed.bundle}\n${passed.bundle}\n`,
    };
  }),
  tampered('a second `payload` before the signed one', 'envelope', bothAccept, (envelope, statement) => {
    const text = changed(statement, withResult('FAILED'));
    return formsOf(JSON.stringify(envelope).replace('{', `{"payload":"${encoded(text)}",`), envelope);
  }),
  tampered('a bundle whose hint and `keyid` differ', 'envelope', ['accepts', null], (envelope) => {
    const signatures = envelope.signatures.map((one) => ({ ...one, keyid: stranger.id }));
    const bundle = { ...bundleOf(envelope), dsseEnvelope: { ...envelope, signatures } };
    return { envelope: null, bundle: JSON.stringify(bundle) };
  }),
  tampered('a bundle with a certificate in place of the key', 'envelope', ['refuses', null], (envelope) => {
    const verificationMaterial = { certificate: { rawBytes: certificate }, tlogEntries: [] };
    return { envelope: null, bundle: JSON.stringify({ ...bundleOf(envelope), verificationMaterial }) };
  }),
  row(
    'signed by another key, with our `keyid`',
    'another key',
    'signature',
    bothRefuse,
    async (_envelope, statement) => {
      const { signatures, ...rest } = await sealed(JSON.stringify(statement), stranger.privatePem);
      return formsOf({ ...rest, signatures: signatures.map(({ sig }) => ({ keyid: trusted.id, sig })) });
    },
  ),
  row('another payload type', 'our key', 'payload_type', bothAccept, async (_envelope, statement) =>
    formsOf(await sealed(JSON.stringify(statement), trusted.privatePem, payloadType.replace('+', '.v2+'))),
  ),
  signed('Statement v0.1', 'statement', ['accepts', 'accepts'], () => ({
    _type: 'https://in-toto.io/Statement/v0.1',
  })),
  signed('test-result v0.2', 'statement', bothAccept, ({ statement }) => ({
    predicateType: statement.predicateType.replace('v0.1', 'v0.2'),
  })),
  signed('another predicate, SLSA provenance', 'statement', bothAccept, () => ({
    predicateType: 'https://slsa.dev/provenance/v1',
  })),
  row(
    'two results, `FAILED` and `PASSED`',
    'our key',
    'duplicate_keys',
    ['accepts', 'accepts'],
    async (_envelope, statement) =>
      formsOf(await sealed(JSON.stringify(statement).replace('"result":', '"result":"FAILED","result":'))),
  ),
  signed(
    '`PASSED` above a run that failed',
    'statement',
    bothAccept,
    withRun({ result: 'FAILED', verdict: 'failed' }),
  ),
  signed('`FAILED`', 'result', bothAccept, withResult('FAILED')),
  signed('`WARNED`', 'result', bothAccept, withResult('WARNED')),
  signed('another commit', 'commit', bothAccept, ({ statement: { subject } }) => {
    const [commit, ...artifacts] = subject;
    return { subject: [{ ...commit, digest: { gitCommit: otherDigest.slice(0, 40) } }, ...artifacts] };
  }),
  signed('the digest of an image abbreviated', 'statement', bothAccept, ({ statement: { subject } }) => ({
    subject: subject.map((one) =>
      'sha256' in one.digest ? { ...one, digest: { sha256: one.digest.sha256.slice(0, 12) } } : one,
    ),
  })),
  signed('an image before the commit', 'statement', bothAccept, ({ statement: { subject } }) => ({
    subject: subject.toReversed(),
  })),
  signed('the digest of another image', 'subject', bothAccept, ({ statement: { subject }, facts }) => {
    const [commit, image, ...files] = subject;
    if (facts.deployed !== undefined) facts.deployed.expected = commit.digest.gitCommit;
    return { subject: [commit, { ...image, digest: { sha256: otherDigest } }, ...files] };
  }),
  signed('the digests of two subjects exchanged', 'subject', bothAccept, ({ statement: { subject } }) => {
    const [commit, image, file] = subject;
    return { subject: [commit, { ...image, digest: file?.digest }, { ...file, digest: image?.digest }] };
  }),
  signed('without the image', 'subject', bothAccept, ({ statement: { subject }, facts }) => {
    const [commit, , ...files] = subject;
    if (facts.deployed !== undefined) facts.deployed.expected = commit.digest.gitCommit;
    return { subject: [commit, ...files] };
  }),
  signed('another repository', 'repository', bothAccept, ({ statement: { subject } }) => {
    const [commit, ...artifacts] = subject;
    return { subject: [{ ...commit, name: 'acme/fork' }, ...artifacts] };
  }),
  signed('another process', 'process', bothAccept, withRun({ process: 'smoke' })),
  signed('another environment', 'environment', bothAccept, ({ statement: { predicate } }) => {
    const configuration = predicate.configuration.map((one) =>
      'name' in one && one.name === 'environment'
        ? { ...one, annotations: { ...one.annotations, key: 'dev' } }
        : one,
    );
    return { predicate: { ...predicate, configuration } };
  }),
  signed('another base URL', 'base_url', bothAccept, ({ statement: { predicate } }) => {
    const configuration = predicate.configuration.map((one) =>
      'name' in one && one.name === 'environment'
        ? { ...one, annotations: { ...one.annotations, baseUrl: `${baseUrl}.example.net` } }
        : one,
    );
    return { predicate: { ...predicate, configuration } };
  }),
  signed('another gate', '--gate', bothAccept, withFacts({ gate: 'smoke' })),
  signed('the deployed build was not checked', 'deployed', bothAccept, ({ facts }) => {
    delete facts.deployed;
    return {};
  }),
  signed('another build was deployed', 'deployed', bothAccept, ({ facts }) => {
    if (facts.deployed !== undefined) facts.deployed = { ...facts.deployed, matches: false };
    return {};
  }),
  signed('expired', 'age', bothAccept, ({ facts }) => {
    facts.finishedAt = new Date(Date.parse(facts.finishedAt) - 25 * hour).toISOString();
    return {};
  }),
  signed('from the future', 'age', bothAccept, ({ facts }) => {
    facts.finishedAt = new Date(Date.parse(facts.finishedAt) + 2 * hour).toISOString();
    return {};
  }),
];
