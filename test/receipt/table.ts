// The expected results of `verifyReceipt`.

import type { Envelope } from '../../src/receipt/dsse.ts';
import { seal } from '../../src/receipt/dsse.ts';
import type { ReceiptErrorCode } from '../../src/receipt/error.ts';
import { readPrivateKey, sign } from '../../src/receipt/keys.ts';
import { payloadType, type ResourceDescriptor, type Statement } from '../../src/receipt/statement.ts';

type Options = Record<string, unknown>;

export interface Row {
  name: string;
  /** The options, which some rows give a wrong type. */
  options(): Promise<Options>;
  /** The code of the error, or the result of the receipt. */
  expected: ReceiptErrorCode | 'PASSED' | 'WARNED';
  /** A part of the error's message. */
  reason?: string | undefined;
}

export const commit = 'd20ace7968ba43c0219f62d71334c1095bab1602';
export const finishedAt = '2026-11-22T12:00:00.000Z';
const after = (milliseconds: number) => new Date(Date.parse(finishedAt) + milliseconds);
const hour = 3_600_000;

const pem = (label: string, der: string) => `-----BEGIN ${label}-----\n${der}\n-----END ${label}-----\n`;
const keysOf = (pkcs8: string, spki: string, id: string) => ({
  privatePem: pem('PRIVATE KEY', pkcs8),
  publicPem: pem('PUBLIC KEY', spki),
  id,
});

// Made by openssl genpkey -algorithm ed25519. The id is that of openssl pkey -pubin -outform DER | sha256sum.
export const trusted = keysOf(
  'MC4CAQAwBQYDK2VwBCIEILPngCa0V9f0uOPNEnO3ITCIuUcg8WtvRH0xCtq54omZ',
  'MCowBQYDK2VwAyEAjRrvVZ0G5QGLScbh0n6qdMX2R4IyoCT98PQUBxBdiGU=',
  '7bb60eeb89286a018cc9db4c079e82766674fab99d144a794a2866b12f371eab',
);
export const second = keysOf(
  'MC4CAQAwBQYDK2VwBCIEINsW1xGXZB46NHr+3oQZsS6Qujk00LXwCUWOPDReaFfa',
  'MCowBQYDK2VwAyEAXEHImB8YHl1qxBNJgU7ONQvsKZt1Vn016s22+E22YFg=',
  '86fb565357a85b5f6ee762bf603a6b9c3290c7227ab4a2b7f82575495fc458d5',
);
export const stranger = keysOf(
  'MC4CAQAwBQYDK2VwBCIEIBedVr3FkKBs2s51xPoVrILZkSobBOKpus6IkiX3c920',
  'MCowBQYDK2VwAyEA9mmMvfUyI/64MXC3BfelMiHSK45fV14ZZ9wKKlg7B5I=',
  '7d7993f79a9e47b3f71df6e1a0599a8524c9a8d00902f54d9ff068db99394200',
);

const run = {
  result: 'PASSED',
  verdict: 'passed',
  runId: 'run_1',
  name: 'shop / checkout',
  project: 'shop',
  process: 'checkout',
  tags: null,
  failed: 0,
  blocked: 0,
  appUrl: 'https://service.example.com/runs/run_1',
} as const;

/** The digest of the image that the statement is about. */
export const imageDigest = '9f'.repeat(32);
export const image = { name: 'ghcr.io/acme/shop', digest: { sha256: imageDigest } } as const;

/** A statement in which every fact is known. */
export const statement = {
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: 'acme/shop', digest: { gitCommit: commit } }, image],
  predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
  predicate: {
    result: 'PASSED',
    configuration: [
      {
        name: 'shop / checkout',
        uri: 'https://service.example.com',
        annotations: {
          rungate: {
            schemaVersion: 1,
            rungate: '0.1.0',
            ref: 'main',
            buildUrl: 'https://ci.example.com/builds/1',
            startedAt: '2026-11-22T11:58:00.000Z',
            finishedAt,
            runs: [run],
          },
        },
      },
      {
        name: 'environment',
        uri: 'https://service.example.com/api/environments#staging',
        annotations: { key: 'staging' },
      },
      {
        name: 'policy',
        mediaType: 'application/json',
        content: Buffer.from('{"passed":"pass","failed":"fail"}').toString('base64'),
      },
    ],
    url: run.appUrl,
    passedTests: ['shop / checkout'],
    warnedTests: [],
    failedTests: [],
  },
} as const satisfies Statement;

type Mutable = Record<string, never>;
type Changeable = { predicate: { configuration: ResourceDescriptor[] } };

/** Returns the statement with one change. */
export function changed(change: (facts: { root: never; facts: never; run: never }) => void): Statement {
  const copy = structuredClone(statement) as never as {
    predicate: { configuration: [{ annotations: { rungate: Mutable } }] };
  };
  const { rungate } = copy.predicate.configuration[0].annotations;
  change({ root: copy as never, facts: rungate as never, run: (rungate.runs as never)[0] });
  return copy as never;
}

/** Returns the statement with a base URL, which a gate names that tested a preview deployment. */
export const preview = (baseUrl: unknown): Statement =>
  changed(({ root }) => {
    const [, environment] = (root as Changeable).predicate.configuration;
    Object.assign(environment ?? {}, { annotations: { key: 'staging', baseUrl } });
  });

const withRun = (more: object) => changed(({ run }) => Object.assign(run, more));
const withResult = (result: string) =>
  changed(({ root, run }) => {
    Object.assign((root as Statement).predicate, { result });
    Object.assign(run, { result });
  });

const encoder = new TextEncoder();

/** Signs any bytes as a payload of any type. */
export async function sealed(
  payload: Uint8Array | string,
  pem = trusted.privatePem,
  type: string = payloadType,
): Promise<Envelope> {
  return seal(Buffer.from(payload), readPrivateKey(pem), type);
}

const text = JSON.stringify(statement);

/** Returns options that accept the receipt, with the given changes. */
function receipt(envelope: unknown, changes: Options = {}): Options {
  return {
    receipt: typeof envelope === 'string' ? envelope : JSON.stringify(envelope),
    keys: trusted.publicPem,
    commit,
    now: after(hour),
    ...changes,
  };
}

const row = (
  name: string,
  expected: Row['expected'],
  options: () => Promise<Options>,
  reason?: string,
): Row => ({ name, expected, options, reason });

/** A row about a statement that a trusted key signed. */
const signed = (
  name: string,
  expected: Row['expected'],
  content: Statement | string,
  changes: Options = {},
  reason?: string,
): Row =>
  row(
    name,
    expected,
    async () =>
      receipt(await sealed(typeof content === 'string' ? content : JSON.stringify(content)), changes),
    reason,
  );

/** A row about an envelope that was changed after it was signed. */
const tampered = (
  name: string,
  expected: Row['expected'],
  change: (envelope: Envelope) => unknown,
  reason?: string,
): Row => row(name, expected, async () => receipt(change(await sealed(text))), reason);

/** A row about an option. */
const option = (name: string, expected: Row['expected'], changes: Options, reason?: string): Row =>
  signed(name, expected, statement, changes, reason);

const sha256Commit = 'ab'.repeat(32);
const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_');
/** A text whose base64 has all characters that differ between the alphabets. */
const mixed = text.replace('"main"', '"\u{1f680}??>>~~\u{1f680}"');

const envelopes: readonly Row[] = [
  row('accepts a receipt as bytes', 'PASSED', async () =>
    receipt('', { receipt: encoder.encode(JSON.stringify(await sealed(text))) }),
  ),
  row('accepts a receipt as an ArrayBuffer', 'PASSED', async () =>
    receipt('', { receipt: encoder.encode(JSON.stringify(await sealed(text))).buffer }),
  ),
  tampered('ignores the key id, which is not signed', 'PASSED', ({ signatures, ...rest }) => ({
    ...rest,
    signatures: signatures.map(({ sig }) => ({ sig, keyid: 'someone else' })),
  })),
  row('accepts URL-safe base64', 'PASSED', async () => {
    const { payload, signatures, ...rest } = await sealed(mixed);
    const safe = signatures.map(({ sig }) => ({ sig: urlSafe(sig) }));
    return receipt({ ...rest, payload: urlSafe(payload), signatures: safe });
  }),
  row('refuses an empty file', 'envelope', async () => receipt(''), 'is not JSON'),
  row('refuses text that is not JSON', 'envelope', async () => receipt('{"payload":'), 'is not JSON'),
  row('refuses JSON that is not an object', 'envelope', async () => receipt('[]'), 'not a JSON object'),
  row('refuses bytes that are not UTF-8', 'envelope', async () =>
    receipt('', { receipt: new Uint8Array([0x7b, 0xff, 0x7d]) }),
  ),
  row('refuses a byte order mark', 'envelope', async () =>
    receipt(`\ufeff${JSON.stringify(await sealed(text))}`),
  ),
  row('refuses deep nesting', 'envelope', async () => receipt(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)),
  row('refuses more than 4 MiB', 'envelope', async () => receipt(' '.repeat(4 * 1024 * 1024 + 1)), '4 MiB'),
  row(
    'refuses a statement without a signature',
    'envelope',
    async () => receipt(text),
    'without a signature',
  ),
  tampered('refuses a missing payload', 'envelope', ({ payload: _, ...rest }) => rest, 'payload'),
  tampered(
    'refuses an empty list of signatures',
    'envelope',
    (e) => ({ ...e, signatures: [] }),
    'signatures',
  ),
  tampered('refuses more than 100 signatures', 'envelope', (e) => ({
    ...e,
    signatures: Array.from({ length: 101 }, () => e.signatures[0]),
  })),
  tampered('refuses base64 without padding', 'envelope', (e) => ({
    ...e,
    payload: e.payload.replace(/.$/, ''),
  })),
  tampered('refuses base64 with bits that encode nothing', 'envelope', (e) => ({
    ...e,
    signatures: e.signatures.map(({ sig }) => ({
      sig: sig.replace(/.==$/, (end) => (end === 'B==' ? 'C==' : 'B==')),
    })),
  })),
  tampered(
    'refuses two payloads, one with an escaped key',
    'envelope',
    (e) => JSON.stringify(e).replace('{', `{"p\\u0061yload":"${btoa('{}')}",`),
    'has the key "payload" twice',
  ),
];

const signatures: readonly Row[] = [
  option('accepts any of several trusted keys', 'PASSED', { keys: [second.publicPem, trusted.publicPem] }),
  option('refuses a receipt that another key signed', 'signature', { keys: second.publicPem }),
  row('a signature by an unknown key does not help', 'signature', async () =>
    receipt(await sealed(text, stranger.privatePem)),
  ),
  row('a signature by an unknown key does not hurt, before or after', 'PASSED', async () => {
    const [own, other] = [await sealed(text), await sealed(text, stranger.privatePem)];
    return receipt({ ...own, signatures: [...other.signatures, ...own.signatures, ...other.signatures] });
  }),
  tampered('a signature of another length does not hurt', 'PASSED', (e) => ({
    ...e,
    signatures: [{ sig: 'AAAA' }, { sig: '' }, ...e.signatures],
  })),
  row('refuses the signature of another statement by the same key', 'signature', async () => {
    const other = await sealed(JSON.stringify(withResult('FAILED')));
    return receipt({ ...other, payload: (await sealed(text)).payload });
  }),
  row('refuses another payload type than the signed one', 'signature', async () =>
    receipt({ ...(await sealed(text)), payloadType: 'application/json' }),
  ),
  row('refuses a signature over the payload alone', 'signature', async () => {
    const sig = sign(readPrivateKey(trusted.privatePem), encoder.encode(text)).toString('base64');
    return receipt({ ...(await sealed(text)), signatures: [{ sig }] });
  }),
  row('refuses a signed payload type of another kind', 'payload_type', async () =>
    receipt(await sealed(text, trusted.privatePem, 'application/vnd.other+json')),
  ),
];

const statements: readonly Row[] = [
  signed(
    'accepts unknown fields of the statement',
    'PASSED',
    changed(({ root, run }) => {
      Object.assign(root, { later: { a: 1 } });
      Object.assign(run, { later: 1 });
    }),
  ),
  signed('refuses a payload that is not JSON', 'statement', 'PASSED', {}, 'is not JSON'),
  signed(
    'refuses two commits',
    'statement',
    { ...statement, subject: [statement.subject[0], ...statement.subject] } as never,
    {},
    'subject[1].digest.sha256 is missing or invalid',
  ),
  signed(
    'refuses a statement without subjects',
    'statement',
    { ...statement, subject: [] } as never,
    {},
    'subject[0] is missing or invalid',
  ),
  signed('refuses an abbreviated commit in the receipt', 'statement', {
    ...statement,
    subject: [{ digest: { gitCommit: commit.slice(0, 12) } }],
  }),
  signed(
    'refuses a test result of other software',
    'statement',
    changed(({ root }) => {
      Object.assign((root as Statement).predicate, { configuration: [{ uri: 'https://ci.example.com' }] });
    }),
  ),
  signed(
    'refuses a newer format of the facts',
    'statement',
    changed(({ facts }) => Object.assign(facts, { schemaVersion: 2 })),
    {},
    'schemaVersion',
  ),
  signed(
    'refuses a receipt without runs',
    'statement',
    changed(({ facts }) => Object.assign(facts, { runs: [] })),
  ),
  signed(
    'refuses a receipt without a time',
    'statement',
    changed(({ facts }) => Object.assign(facts, { finishedAt: 'today' })),
    {},
    'finishedAt',
  ),
  signed(
    'refuses a deployed version without its fields',
    'statement',
    changed(({ facts }) => Object.assign(facts, { deployed: { url: '' } })),
    {},
    'rungate.deployed.pointer',
  ),
  signed(
    'refuses a duplicate key with an escape',
    'duplicate_keys',
    text.replace('"result":"PASSED"', '"r\\u0065sult":"FAILED","result":"PASSED"'),
    {},
    'has the key "result" twice',
  ),
  signed(
    'refuses a duplicate key in an unknown field',
    'duplicate_keys',
    text.replace('{', '{"later":[[{"a":1,"a":1}]],'),
    {},
    'has the key "a" twice',
  ),
  signed(
    'refuses a duplicate __proto__',
    'duplicate_keys',
    text.replace('{', '{"__proto__":{},"__proto__":{},'),
  ),
  signed(
    'reads no fact from a __proto__',
    'statement',
    JSON.stringify(changed(({ run }) => delete (run as Record<string, unknown>).project)).replace(
      '"runId"',
      '"__proto__":{"project":"shop"},"runId"',
    ),
    { project: 'shop' },
  ),
];

const facts: readonly Row[] = [
  signed('refuses FAILED even if WARNED is allowed', 'result', withResult('FAILED'), { allowWarned: true }),
  signed('accepts WARNED if it is allowed', 'WARNED', withResult('WARNED'), { allowWarned: true }),
  option('refuses another commit', 'commit', { commit: `0${commit.slice(1)}` }, `it is for commit ${commit}`),
  option('accepts the commit in upper case', 'PASSED', { commit: commit.toUpperCase() }),
  signed(
    'accepts a SHA-256 commit',
    'PASSED',
    { ...statement, subject: [{ digest: { gitCommit: sha256Commit } }] },
    { commit: sha256Commit },
  ),
  signed(
    'refuses a receipt without a repository',
    'repository',
    { ...statement, subject: [{ digest: { gitCommit: commit } }] },
    { repository: 'acme/shop' },
    'does not name the repository',
  ),
  option('refuses another project', 'project', { project: 'other' }),
  option('refuses another process', 'process', { process: 'other' }),
  option(
    'refuses another environment',
    'environment',
    { environment: 'production' },
    'it has the environment "staging", not "production"',
  ),
  signed(
    "refuses the project's default environment",
    'environment',
    changed(({ root }) => (root as Changeable).predicate.configuration.splice(1, 1)),
    { environment: 'staging' },
    'does not name the environment',
  ),
  signed(
    'refuses a run of run wait, whose project is unknown',
    'project',
    withRun({ project: null, process: null }),
    { project: 'shop' },
  ),
  signed('accepts tags in any order', 'PASSED', withRun({ process: null, tags: ['b', 'a'] }), {
    tags: ['a', 'b'],
  }),
  signed('refuses fewer tags', 'tags', withRun({ process: null, tags: ['a', 'b'] }), { tags: ['a'] }),
  signed('refuses two tags in place of one with a comma', 'tags', withRun({ process: null, tags: ['a,b'] }), {
    tags: ['a', 'b'],
  }),
  signed(
    'refuses an environment whose key is not text',
    'environment',
    changed(({ root }) =>
      Object.assign((root as Changeable).predicate.configuration[1] ?? {}, {
        annotations: { key: ['staging'] },
      }),
    ),
    { environment: 'staging' },
  ),
  signed(
    'refuses two environments',
    'statement',
    changed(({ root }) => {
      const { configuration } = (root as Changeable).predicate;
      configuration.push({ ...configuration[1], annotations: { key: 'dev' } });
    }),
    { environment: 'staging' },
    'several environments',
  ),
  ...[
    ['https://pr-7.example.com', 'https://pr-7.example.com'],
    ['https://PR-7.example.com:443/', ' HTTPS://pr-7.Example.com\n'],
    ['http://127.0.0.1:3000', 'http://127.1:3000/'],
    ['https://b\u00fccher.example', 'https://xn--bcher-kva.example'],
  ].map(([named, baseUrl]) =>
    signed(`accepts the base URL ${named} for ${baseUrl}`, 'PASSED', preview(named), { baseUrl }),
  ),
  ...[
    ['https://pr-7.example.com', 'https://pr-8.example.com'],
    ['https://pr-7.example.com', 'http://pr-7.example.com'],
    ['https://pr-7.example.com', 'https://pr-7.example.com:8443'],
    ['https://pr-7.example.com', 'https://pr-7.example.com/shop'],
    ['https://pr-7.example.com/shop', 'https://pr-7.example.com/shop/'],
    // Its first "a" is Cyrillic.
    ['https://pr-7.ex\u0430mple.com', 'https://pr-7.example.com'],
    ['https://pr-7.example.com/?preview=1', 'https://pr-7.example.com'],
    ['https://pr-7.example.com/#/shop', 'https://pr-7.example.com'],
    ['https://someone@pr-7.example.com', 'https://pr-7.example.com'],
    ['https://pr-7.example.com\\', 'https://pr-7.example.com'],
    ['https://pr-7.exa\tmple.com', 'https://pr-7.example.com'],
    ['pr-7.example.com', 'https://pr-7.example.com'],
  ].map(([named, baseUrl]) =>
    signed(
      `refuses the base URL ${JSON.stringify(named)} for ${baseUrl}`,
      'base_url',
      preview(named),
      { baseUrl },
      'it has the base URL "',
    ),
  ),
  option(
    'refuses a receipt without a base URL',
    'base_url',
    { baseUrl: 'https://pr-7.example.com' },
    'it does not name the base URL, so it may be for another than "https://pr-7.example.com/"',
  ),
  signed(
    'reads the base URL of the environment, and of no other entry',
    'base_url',
    changed(({ root }) => {
      for (const entry of (root as Changeable).predicate.configuration)
        if (entry.name !== 'environment')
          Object.assign(entry, {
            annotations: { ...entry.annotations, baseUrl: 'https://pr-7.example.com' },
          });
    }),
    { baseUrl: 'https://pr-7.example.com' },
    'does not name the base URL',
  ),
  signed(
    'reads no base URL from a __proto__',
    'base_url',
    text.replace('"key":"staging"', '"key":"staging","__proto__":{"baseUrl":"https://pr-7.example.com"}'),
    { baseUrl: 'https://pr-7.example.com' },
    'does not name the base URL',
  ),
  ...[null, 7, ['https://pr-7.example.com'], { href: 'https://pr-7.example.com' }].map((named) =>
    signed(
      `refuses ${JSON.stringify(named)} in place of a base URL`,
      'statement',
      preview(named),
      {},
      'predicate.configuration[1].annotations.baseUrl is missing or invalid',
    ),
  ),
  ...[
    `${image.name}@sha256:${imageDigest}`,
    `sha256:${imageDigest}`,
    `SHA256:${imageDigest.toUpperCase()}`,
  ].map((subject) =>
    option(`accepts the image as ${subject.slice(0, 20)}…, without a commit`, 'PASSED', {
      subjects: [subject],
      commit: undefined,
    }),
  ),
  option('needs the commit as well as the image if both are given', 'commit', {
    subjects: [`sha256:${imageDigest}`],
    commit: '0'.repeat(40),
  }),
  option('refuses the image under another name', 'subject', { subjects: [`other@sha256:${imageDigest}`] }),
  option('refuses one image of two', 'subject', {
    subjects: [`sha256:${imageDigest}`, `sha256:${'0'.repeat(64)}`],
  }),
  signed(
    'refuses a receipt without images, and a commit in place of one',
    'subject',
    { ...statement, subject: [{ digest: { gitCommit: sha256Commit } }] },
    { subjects: [`sha256:${sha256Commit}`], commit: undefined },
    'it names no image and no file',
  ),
  ...[true, false, null].map((matches) =>
    signed(
      `with matches ${matches}, the build is${matches === true ? '' : ' not'} checked`,
      matches === true ? 'PASSED' : 'deployed',
      changed(({ facts }) =>
        Object.assign(facts, {
          deployed: { url: '', pointer: null, expected: commit, matches, version: null },
        }),
      ),
      { requireDeployed: true },
    ),
  ),
  ...[
    [`sha256:${'a'.repeat(64)}`, ['a'], 'PASSED'],
    [`sha256:${'a'.repeat(64)}`, ['b'], 'deployed'],
    [`sha256:${'a'.repeat(64)}`, ['a', 'b'], 'PASSED'],
    [`sha256:${'c'.repeat(64)}`, ['a'], 'deployed'],
    [commit.slice(0, 8), ['b'], 'PASSED'],
    ['0'.repeat(40), ['a'], 'deployed'],
    ['v1.2.3', ['b'], 'deployed'],
    [`${commit} or sha256:${'a'.repeat(64)}`, ['a'], 'deployed'],
  ].map(([expected, names, result]) =>
    signed(
      `the images ${names} are${result === 'PASSED' ? '' : ' not'} the deployed ones if the gate saw ${expected}`,
      result as Row['expected'],
      changed(({ root, facts }) => {
        const subject = ['a', 'b'].map((name) => ({ name, digest: { sha256: name.repeat(64) } }));
        Object.assign(root, { subject: [statement.subject[0], ...subject] });
        Object.assign(facts, {
          deployed: { url: '', pointer: null, expected, matches: true, version: expected },
        });
      }),
      { requireDeployed: true, subjects: [...(names ?? [])].map((name) => `sha256:${name.repeat(64)}`) },
    ),
  ),
  signed(
    'refuses two images with one name',
    'statement',
    {
      ...statement,
      subject: [statement.subject[0], image, { ...image, digest: { sha256: 'a'.repeat(64) } }],
    },
    {},
    'subject has two entries with the same name',
  ),
  option('accepts a receipt of exactly the maximum age', 'PASSED', { maxAgeMs: hour }),
  option('refuses an old receipt', 'age', { maxAgeMs: hour - 1 }, 'it is 1 h old'),
  option('accepts a receipt whose clock is 60 s ahead', 'PASSED', { now: after(-60_000) }),
  option('refuses a receipt from the future', 'age', { now: after(-60_001) }, 'in the future'),
  option('names the first of several failures', 'commit', {
    commit: '0'.repeat(40),
    project: 'other',
    now: after(-hour),
  }),
];

const options: readonly Row[] = [
  option(
    'refuses an abbreviated commit',
    'bad_option',
    { commit: commit.slice(0, 12) },
    'commit: expected a whole commit',
  ),
  option('refuses a missing key', 'bad_option', { keys: undefined }, 'keys: expected'),
  option('refuses an empty list of keys', 'bad_option', { keys: [] }, 'keys: expected'),
  option(
    'refuses a receipt that was parsed',
    'bad_option',
    { receipt: {} },
    'receipt: expected the content of the file',
  ),
  ...[
    new URL('https://pr-7.example.com'),
    'pr-7.example.com',
    'ftp://pr-7.example.com',
    'https://pr-7.example.com?token=secret',
    'https://pr-7.example.com/#secret',
    'https://someone:secret@pr-7.example.com',
    'https://pr-7.example.com\\@secret.example.com',
    'https://pr-7.example.com/a b',
  ].map((baseUrl) =>
    option(
      `refuses ${JSON.stringify(baseUrl)} as a base URL`,
      'bad_option',
      { baseUrl },
      'baseUrl: expected an http or https URL',
    ),
  ),
  option('refuses neither a commit nor subjects', 'bad_option', { commit: undefined }),
  option('refuses an empty list of subjects', 'bad_option', { subjects: [] }),
  option('refuses the tag of an image', 'bad_option', { subjects: ['ghcr.io/acme/shop:1.2'] }),
  option('refuses requireDeployed as text', 'bad_option', { requireDeployed: 'yes' }),
  option('refuses an empty list of tags', 'bad_option', { tags: [] }),
  option('refuses a process together with tags', 'bad_option', { process: 'checkout', tags: ['a'] }),
  option('refuses a misspelt option, whose check would be left out', 'bad_option', { maxAge: 1 }, '"maxAge"'),
  option('refuses a maximum age of 0', 'bad_option', { maxAgeMs: 0 }),
  option('refuses an invalid date', 'bad_option', { now: new Date(Number.NaN) }),
  option(
    'refuses two keys in one text',
    'bad_key',
    { keys: trusted.publicPem + second.publicPem },
    'several keys',
  ),
  option('refuses one bad key among good ones', 'bad_key', { keys: [trusted.publicPem, 'x'] }),
];

export const table: readonly { title: string; rows: readonly Row[] }[] = [
  { title: 'Envelope', rows: envelopes },
  { title: 'Signature', rows: signatures },
  { title: 'Statement', rows: statements },
  { title: 'Facts', rows: facts },
  { title: 'Options', rows: options },
];

/** Calls `verifyReceipt` and returns the result of the receipt, or the code and the message of its error. */
export async function outcomeOf(
  verify: (options: never) => Promise<{ result: string }>,
  given: unknown,
): Promise<{ outcome: string; message: string }> {
  try {
    return { outcome: (await verify(given as never)).result, message: '' };
  } catch (error) {
    const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
    const outcome = name === 'ReceiptError' ? String(code) : `another class: ${String(error)}`;
    return { outcome, message: String(message) };
  }
}

/** Returns what is wrong with the outcome of a row, or null. */
export async function problemOf(
  verify: (options: never) => Promise<{ result: string }>,
  { options, expected, reason = '' }: Row,
): Promise<string | null> {
  const { outcome, message } = await outcomeOf(verify, await options());
  return outcome === expected && message.includes(reason) ? null : `${outcome}: ${message}`;
}
