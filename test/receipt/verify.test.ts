import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { type Envelope, preAuthEncoding } from '../../src/receipt/dsse.ts';
import type { ReceiptErrorCode } from '../../src/receipt/error.ts';
import { verifyReceipt } from '../../src/receipt/index.ts';
import { readPrivateKey, sign } from '../../src/receipt/keys.ts';
import { payloadType, type ResourceDescriptor, type Statement } from '../../src/receipt/statement.ts';
import {
  type Changeable,
  changed,
  commit,
  finishedAt,
  image,
  imageDigest,
  outcomeOf,
  preview,
  sealed,
  second,
  statement,
  stranger,
  trusted,
  withResult,
  withRun,
} from './table.ts';

type Options = Readonly<Record<string, unknown>>;
/** A statement or its text, which a trusted key signs, or a change of the envelope after that. */
type Given = Statement | string | ((envelope: Envelope) => unknown);
type Row = readonly [
  name: string,
  expected: ReceiptErrorCode | 'PASSED' | 'WARNED',
  given: Given,
  options?: Options,
  /** A part of the message. */
  reason?: string,
];

const after = (milliseconds: number) => new Date(Date.parse(finishedAt) + milliseconds);
const hour = 3_600_000;
const text = JSON.stringify(statement);
const encode = (content: string) => new TextEncoder().encode(content);
const url = 'https://pr-7.example.com';

/** Returns the options for a receipt. */
async function optionsFor(given: Given, more: Options = {}): Promise<Options> {
  const payload = typeof given === 'function' ? text : given;
  const envelope = await sealed(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const file = typeof given === 'function' ? await given(envelope) : envelope;
  const isEnvelope = Object.hasOwn(Object(file), 'payloadType');
  const receipt = isEnvelope ? JSON.stringify(file) : file;
  return { receipt, keys: trusted.publicPem, commit, now: after(hour), ...more };
}
const file = (content: unknown) => () => content;
const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_');
/** A text whose base64 has all characters that differ between the alphabets. */
const mixed = text.replace('"main"', '"\u{1f680}??>>~~\u{1f680}"');
const resigned = (e: Envelope, change: (sig: string) => object) => ({
  ...e,
  signatures: e.signatures.map(({ sig }) => change(sig)),
});
const withOtherBits = (sig: string) => ({
  sig: sig.replace(/.==$/, (end) => (end === 'B==' ? 'C==' : 'B==')),
});
const withSecondPayload = (e: Envelope) =>
  JSON.stringify(e).replace('{', `{"p\\u0061yload":"${btoa('{}')}",`);
async function inUrlSafeBase64() {
  const envelope = await sealed(mixed);
  return { ...resigned(envelope, (sig) => ({ sig: urlSafe(sig) })), payload: urlSafe(envelope.payload) };
}
const strangers = (await sealed(text, stranger.privatePem)).signatures;
const placed = (path: string, value: unknown) =>
  changed(({ root, facts }) => {
    if (path === 'subject') Object.assign(root, { subject: value });
    else Object.assign(facts, { [path]: value });
  });

const envelopes: readonly Row[] = [
  ['bytes', 'PASSED', (e) => encode(JSON.stringify(e))],
  ['a key id, which is not signed', 'PASSED', (e) => resigned(e, (sig) => ({ sig, keyid: 'someone else' }))],
  ['URL-safe base64', 'PASSED', inUrlSafeBase64],
  ['text that is not JSON', 'envelope', file('{"payload":'), {}, 'is not JSON'],
  ['bytes that are not UTF-8', 'envelope', file(new Uint8Array([0x7b, 0xff, 0x7d])), {}, 'UTF-8'],
  ['deep nesting', 'envelope', file(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`), {}, 'too deeply'],
  ['more than 4 MiB', 'envelope', file(' '.repeat(4 * 1024 * 1024 + 1)), {}, '4 MiB'],
  ['a statement without a signature', 'envelope', file(text), {}, 'without a signature'],
  ['no signatures', 'envelope', (e) => ({ ...e, signatures: [] }), {}, 'signatures is missing or invalid'],
  ['101 signatures', 'envelope', (e) => ({ ...e, signatures: Array(101).fill(e.signatures[0]) })],
  ['base64 without padding', 'envelope', (e) => ({ ...e, payload: e.payload.replace(/.$/, '') })],
  ['base64 with bits that encode nothing', 'envelope', (e) => resigned(e, withOtherBits)],
  ['two payloads, one with an escaped key', 'envelope', withSecondPayload, {}, 'has the key "payload" twice'],
];

const signedBy = (e: Envelope, ...all: object[]) => ({ ...e, signatures: all });
const sigOfPayload = sign(readPrivateKey(trusted.privatePem), encode(text)).toString('base64');

const signatures: readonly Row[] = [
  ['any of several trusted keys', 'PASSED', statement, { keys: [second.publicPem, trusted.publicPem] }],
  ['signatures by an unknown key', 'PASSED', (e) => signedBy(e, ...strangers, ...e.signatures, ...strangers)],
  [
    'signatures of another length',
    'PASSED',
    (e) => signedBy(e, { sig: 'AAAA' }, { sig: '' }, ...e.signatures),
  ],
  ['another payload type than the signed one', 'signature', (e) => ({ ...e, payloadType: 'text/json' })],
  ['a signature over the payload alone', 'signature', (e) => signedBy(e, { sig: sigOfPayload })],
];

const [tested] = statement.subject;
const otherImage = { ...image, digest: { sha256: 'a'.repeat(64) } };
/** Returns the statement with a change of its configuration, whose second entry is the environment. */
const configured = (change: (entries: ResourceDescriptor[]) => unknown) =>
  changed(({ root }) => void change((root as Changeable).predicate.configuration));
const staging = { environment: 'staging' };

const statements: readonly Row[] = [
  [
    'unknown fields',
    'PASSED',
    changed(({ root, run }) => [root, run].map((one) => Object.assign(one, { later: 1 }))),
  ],
  [
    'two commits',
    'statement',
    placed('subject', [tested, tested]),
    {},
    'subject[1].digest.sha256 is missing',
  ],
  ['no subjects', 'statement', placed('subject', []), {}, 'subject[0] is missing or invalid'],
  ['a short commit', 'statement', placed('subject', [{ digest: { gitCommit: commit.slice(0, 12) } }])],
  [
    'two images with one name',
    'statement',
    placed('subject', [tested, image, otherImage]),
    {},
    'the same name',
  ],
  [
    'a test result of other software',
    'statement',
    configured((all) => all.splice(0, 3, { uri: 'https://a.example' })),
  ],
  ['a newer format of the facts', 'statement', placed('schemaVersion', 2), {}, 'schemaVersion'],
  ['no runs', 'statement', placed('runs', [])],
  ['no time', 'statement', placed('finishedAt', 'today'), {}, 'finishedAt'],
  ['a deployed version without its fields', 'statement', placed('deployed', { url: '' }), {}, 'pointer'],
  [
    'two environments',
    'statement',
    configured((all) => all.push({ ...all[1], annotations: { key: 'dev' } })),
    staging,
    'several environments',
  ],
  ...[null, 7, [url], { href: url }].map(
    (named): Row => [
      `${JSON.stringify(named)} in place of a base URL`,
      'statement',
      preview(named),
      {},
      'predicate.configuration[1].annotations.baseUrl is missing or invalid',
    ],
  ),
  [
    'a duplicate key with an escape',
    'duplicate_keys',
    text.replace('"result":"PASSED"', '"r\\u0065sult":"FAILED","result":"PASSED"'),
    {},
    'has the key "result" twice',
  ],
  ['a duplicate key in an unknown field', 'duplicate_keys', text.replace('{', '{"later":[[{"a":1,"a":1}]],')],
  ['a duplicate __proto__', 'duplicate_keys', text.replace('{', '{"__proto__":{},"__proto__":{},')],
  [
    'a fact in a __proto__',
    'statement',
    JSON.stringify(changed(({ run }) => delete (run as Record<string, unknown>).project)).replace(
      '"runId"',
      '"__proto__":{"project":"shop"},"runId"',
    ),
    { project: 'shop' },
  ],
];

const sha256Commit = 'ab'.repeat(32);
const bare = (gitCommit = commit) => placed('subject', [{ digest: { gitCommit } }]);
const tagged = (...tags: string[]) => withRun({ process: null, tags });

const keyed = (key: unknown) => configured((all) => Object.assign(all[1] ?? {}, { annotations: { key } }));
const inOtherEntries = configured((all) => {
  for (const entry of all)
    if (entry.name !== 'environment')
      Object.assign(entry, { annotations: { ...entry.annotations, baseUrl: url } });
});
const inProto = text.replace('"key":"staging"', `"key":"staging","__proto__":{"baseUrl":"${url}"}`);
const byUrl = { baseUrl: url };
const only = (subject: string): Options => ({ subjects: [subject], commit: undefined });

const facts: readonly Row[] = [
  ['FAILED if WARNED is allowed', 'result', withResult('FAILED'), { allowWarned: true }],
  ['WARNED if it is allowed', 'WARNED', withResult('WARNED'), { allowWarned: true }],
  ['the commit in upper case', 'PASSED', statement, { commit: commit.toUpperCase() }],
  ['a SHA-256 commit', 'PASSED', bare(sha256Commit), { commit: sha256Commit }],
  ['a run without a project', 'project', withRun({ project: null, process: null }), { project: 'shop' }],
  ['no repository', 'repository', bare(), { repository: 'acme/shop' }, 'does not name the repository'],
  ['tags in any order', 'PASSED', tagged('b', 'a'), { tags: ['a', 'b'] }],
  ['fewer tags', 'tags', tagged('a', 'b'), { tags: ['a'] }],
  ['two tags in place of one with a comma', 'tags', tagged('a,b'), { tags: ['a', 'b'] }],
  [
    'another environment',
    'environment',
    statement,
    { environment: 'production' },
    'it has the environment "staging"',
  ],
  [
    "the project's default environment",
    'environment',
    configured((all) => all.splice(1, 1)),
    staging,
    'does not name',
  ],
  ['an environment whose key is not text', 'environment', keyed(['staging']), staging],
  ...[
    [url, url],
    ['https://PR-7.example.com:443/', ' HTTPS://pr-7.Example.com\n'],
    ['http://127.0.0.1:3000', 'http://127.1:3000/'],
    ['https://b\u00fccher.example', 'https://xn--bcher-kva.example'],
  ].map(
    ([named, baseUrl]): Row => [
      `the base URL ${named} for ${baseUrl}`,
      'PASSED',
      preview(named),
      { baseUrl },
    ],
  ),
  ...[
    'https://pr-8.example.com',
    'http://pr-7.example.com',
    'https://pr-7.example.com/shop',
    // Its first "a" is Cyrillic.
    'https://pr-7.ex\u0430mple.com',
    'https://someone@pr-7.example.com',
    'https://pr-7.example.com\\',
    'https://pr-7.exa\tmple.com',
    'pr-7.example.com',
  ].map(
    (named): Row => [
      `the base URL ${JSON.stringify(named)} for ${url}`,
      'base_url',
      preview(named),
      { baseUrl: url },
      'it has the base URL "',
    ],
  ),
  ['another path', 'base_url', preview(`${url}/shop`), { baseUrl: `${url}/shop/` }],
  [
    'no base URL',
    'base_url',
    statement,
    byUrl,
    `it does not name the base URL, so it may not be for "${url}/"`,
  ],
  ['a base URL of another entry', 'base_url', inOtherEntries, byUrl, 'does not name the base URL'],
  ['a base URL in a __proto__', 'base_url', inProto, byUrl, 'does not name the base URL'],
  ['the image, without a commit', 'PASSED', statement, only(`${image.name}@sha256:${imageDigest}`)],
  ['its digest, without a commit', 'PASSED', statement, only(`SHA256:${imageDigest.toUpperCase()}`)],
  [
    'the image of another commit',
    'commit',
    statement,
    { ...only(`sha256:${imageDigest}`), commit: '0'.repeat(40) },
  ],
  ['the image under another name', 'subject', statement, only(`other@sha256:${imageDigest}`)],
  [
    'one image of two',
    'subject',
    statement,
    { subjects: [imageDigest, otherImage.digest.sha256].map((hex) => `sha256:${hex}`) },
  ],
  [
    'a commit in place of an image',
    'subject',
    bare(sha256Commit),
    only(`sha256:${sha256Commit}`),
    'names no image',
  ],
  ...([true, false, null] as const).map(
    (matches): Row => [
      `a build with matches ${matches}`,
      matches === true ? 'PASSED' : 'deployed',
      placed('deployed', { url: '', pointer: null, expected: commit, matches, version: null }),
      { requireDeployed: true },
    ],
  ),
  ...(
    [
      [`sha256:${'a'.repeat(64)}`, 'a', 'PASSED'],
      [`sha256:${'a'.repeat(64)}`, 'b', 'deployed'],
      [`sha256:${'a'.repeat(64)}`, 'ab', 'PASSED'],
      [`sha256:${'c'.repeat(64)}`, 'a', 'deployed'],
      [commit.slice(0, 8), 'b', 'PASSED'],
      ['0'.repeat(40), 'a', 'deployed'],
      ['v1.2.3', 'b', 'deployed'],
      [`${commit} or sha256:${'a'.repeat(64)}`, 'a', 'deployed'],
    ] as const
  ).map(
    ([expected, names, result]): Row => [
      `the images ${names} if the gate saw ${expected}`,
      result,
      changed(({ root, facts }) => {
        const subject = ['a', 'b'].map((name) => ({ name, digest: { sha256: name.repeat(64) } }));
        const deployed = { url: '', pointer: null, expected, matches: true, version: expected };
        Object.assign(root, { subject: [tested, ...subject] });
        Object.assign(facts, { deployed });
      }),
      { requireDeployed: true, subjects: [...names].map((name) => `sha256:${name.repeat(64)}`) },
    ],
  ),
  ['a receipt of exactly the maximum age', 'PASSED', statement, { maxAgeMs: hour }],
  ['an older receipt', 'age', statement, { maxAgeMs: hour - 1 }, 'it is 1 h old'],
  ['a receipt whose clock is 60 s ahead', 'PASSED', statement, { now: after(-60_000) }],
  ['a receipt from the future', 'age', statement, { now: after(-60_001) }, 'in the future'],
  [
    'several failures, of which it names the first',
    'commit',
    statement,
    { commit: '0'.repeat(40), project: 'other', now: after(-hour) },
  ],
];

const wrongOptions: readonly (readonly [name: string, options: Options, reason?: string])[] = [
  ['an abbreviated commit', { commit: commit.slice(0, 12) }, 'commit: expected a full commit hash'],
  ['an empty list of keys', { keys: [] }, 'keys: expected'],
  ['a receipt that was parsed', { receipt: {} }, 'receipt: expected the content of the file'],
  ...[
    new URL(url),
    'pr-7.example.com',
    'ftp://pr-7.example.com',
    `${url}?token=secret`,
    `${url}/#secret`,
    'https://someone:secret@pr-7.example.com',
    `${url}\\@secret.example.com`,
    `${url}/a b`,
  ].map((baseUrl) => [`the base URL ${baseUrl}`, { baseUrl }, 'baseUrl: expected an http or https'] as const),
  ['neither a commit nor subjects', { commit: undefined }],
  ['an empty list of subjects', { subjects: [] }],
  ['the tag of an image', { subjects: ['ghcr.io/acme/shop:1.2'] }],
  ['requireDeployed as text', { requireDeployed: 'yes' }],
  ['an empty list of tags', { tags: [] }],
  ['a process together with tags', { process: 'checkout', tags: ['a'] }],
  ['a misspelt option, whose check would be left out', { maxAge: 1 }, '"maxAge"'],
  ['a maximum age of 0', { maxAgeMs: 0 }],
  ['an invalid date', { now: new Date(Number.NaN) }],
];

const badKeys: readonly Row[] = [
  ['two keys in one text', 'bad_key', statement, { keys: trusted.publicPem + second.publicPem }, 'several'],
  ['one bad key among good ones', 'bad_key', statement, { keys: [trusted.publicPem, 'x'] }],
];

const rows = {
  envelope: envelopes,
  signature: signatures,
  statement: statements,
  facts,
  keys: badKeys,
  options: wrongOptions.map(
    ([name, options, reason = '']): Row => [name, 'bad_option', statement, options, reason],
  ),
};

describe.each(Object.entries(rows))('verifyReceipt, %s', (_what, ofKind) => {
  const cases = ofKind.map(([name, expected, ...given]) => ({ name, expected, given }));
  test.each(cases)('$name: $expected', async ({ expected, given: [given, options, reason = ''] }) => {
    const { outcome, message } = await outcomeOf(verifyReceipt, await optionsFor(given, options));
    expect([outcome, message]).toEqual([expected, expect.stringContaining(reason)]);
  });
});

describe('verifyReceipt', () => {
  it('repeats no part of a base URL that it refuses, which may have a secret', async () => {
    const receipt = JSON.stringify(await sealed(JSON.stringify(statement)));
    const baseUrl = 'https://someone:password@pr-7.example.com/?token=secret';
    const error = await verifyReceipt({ receipt, keys: trusted.publicPem, commit, baseUrl }).catch(String);
    expect(error).not.toMatch(/someone|password|pr-7|secret/);
  });
});

describe('a property of a polluted Object.prototype is neither an option nor a fact', () => {
  const warned = changed(({ root, run }) => {
    Object.assign((root as typeof statement).predicate, { result: 'WARNED' });
    Object.assign(run, { result: 'WARNED' });
  });
  const unnamed = changed(({ root }) => {
    Object.assign(root, { subject: [{ digest: { gitCommit: commit } }] });
  });
  const placeless = changed(({ root }) => {
    const { configuration } = (root as typeof statement).predicate;
    Object.assign(configuration[1], { name: 'other', annotations: {} });
  });
  const without = changed(({ root }) => {
    const { predicate } = root as { predicate: { configuration: object[] } };
    predicate.configuration.splice(1, 1);
  });
  const baseUrl = 'https://pr-7.example.com';
  const annotations = { key: 'staging', baseUrl };
  it.each([
    ['key', 'staging', placeless, { environment: 'staging' }, 'environment'],
    ['annotations', annotations, without, { environment: 'staging' }, 'environment'],
    ['annotations', annotations, without, { baseUrl }, 'base_url'],
    ['baseUrl', baseUrl, statement, { baseUrl }, 'base_url'],
    ['allowWarned', true, warned, {}, 'result'],
    ['name', 'acme/shop', unnamed, { repository: 'acme/shop' }, 'repository'],
    ['result', 'none', warned, {}, 'result'],
    ['age', 'none', statement, { maxAgeMs: 1 }, 'age'],
  ])('%s', async (name, value, content, options, code) => {
    const receipt = JSON.stringify(await sealed(JSON.stringify(content)));
    const now = new Date(Date.parse(finishedAt) + 5000);
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true });
    try {
      const verified = verifyReceipt({ receipt, keys: trusted.publicPem, commit, now, ...options });
      expect(
        await verified.then(
          () => null,
          ({ code }) => code,
        ),
      ).toBe(code);
    } finally {
      Reflect.deleteProperty(Object.prototype, name);
    }
  });
});

it.each([
  ['of an object', { project: 'other' }],
  [
    'of a class',
    {
      get project() {
        return 'other';
      },
    },
  ],
])('refuses options that inherit those %s', async (_what, parent: object) => {
  const receipt = JSON.stringify(await sealed(JSON.stringify(statement)));
  const options = { receipt, keys: trusted.publicPem, commit, now: new Date(Date.parse(finishedAt)) };
  const inherited = Object.assign(Object.create(parent), options);
  await expect(verifyReceipt(inherited)).rejects.toMatchObject({ code: 'bad_option' });
  expect(await verifyReceipt(Object.assign(Object.create(null), options))).toMatchObject({
    result: 'PASSED',
  });
});

describe('a forged receipt that node:crypto accepts under a key of small order is refused', () => {
  // The points whose order divides 8, by the second coordinate; the sign of the first is bit 255. As in the vectors
  // `low_order_A` of https://github.com/C2SP/CCTV/tree/main/ed25519.
  const reduced = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ];
  const unreduced = [
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  ];
  const withSigns = (points: readonly string[]) =>
    points.flatMap((point) =>
      [0, 0x80].map((sign) => {
        const bytes = Buffer.from(point, 'hex');
        bytes[31] = (bytes[31] ?? 0) | sign;
        return bytes;
      }),
    );
  /** With S = 0, one of the points is right as R for about one statement in eight, at worst. */
  const attempts = Array.from({ length: 20 }, (_, attempt) => {
    const payload = new TextEncoder().encode(JSON.stringify({ ...statement, attempt }));
    return withSigns(reduced).map((r) => ({ payload, signature: Buffer.concat([r, Buffer.alloc(32)]) }));
  }).flat();

  it.each(withSigns([...reduced, ...unreduced]).map((point) => [point.toString('hex'), point] as const))(
    '%s',
    async (_, point) => {
      const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), point]);
      const keys = createPublicKey({ key: spki, format: 'der', type: 'spki' }).export({
        format: 'pem',
        type: 'spki',
      });
      // OpenSSL 3.5, from Node 24 on, refuses such keys itself.
      const refusedByNode = Number(process.versions.node.split('.')[0]) >= 24 ? attempts[0] : undefined;
      const found = attempts.find(({ payload, signature }) =>
        verify(null, preAuthEncoding(payloadType, payload), String(keys), signature),
      );
      const forged = found ?? refusedByNode;
      if (forged === undefined) throw new Error('no guess was right');
      const receipt = JSON.stringify({
        payload: Buffer.from(forged.payload).toString('base64'),
        payloadType,
        signatures: [{ sig: forged.signature.toString('base64') }],
      });
      await expect(verifyReceipt({ receipt, keys: String(keys), commit })).rejects.toMatchObject({
        code: 'bad_key',
        message: expect.stringContaining('anyone can sign'),
      });
    },
  );
});
