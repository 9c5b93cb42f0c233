import { execFileSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { causes as texts } from '../../src/webhook/diagnose/causes.ts';
import { type DiagnoseInput, diagnose, maxDiagnosedBytes } from '../../src/webhook/diagnose/diagnose.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const hmac = (key: Uint8Array, parts: readonly Uint8Array[]) =>
  parts.reduce((mac, part) => mac.update(part), createHmac('sha256', key)).digest();

const secret = 'whook-Secret-0123456789';
const timestamp = '2026-01-15T12:00:00.250Z';

/** The event before the sender serialises it. */
const event = {
  type: 'run.completed',
  id: 7,
  data: { name: 'Zoë ☕ 😀', url: 'https://x.example/a?b=1&c=<d>' },
};

interface Sent {
  body: string | Uint8Array;
  timestamp: string;
  key: string | Uint8Array;
  /** The signed message, if it is not `<timestamp>.<body>`. */
  message: (timestamp: Uint8Array, body: Uint8Array) => Uint8Array[];
  encode: (mac: Uint8Array) => string;
}

const asBytes = (value: string | Uint8Array) => (typeof value === 'string' ? bytes(value) : value);
const hex = (mac: Uint8Array) => `sha256=${Buffer.from(mac).toString('hex')}`;

/** The receiver's values, after a mistake. */
type Had = Partial<Omit<DiagnoseInput, 'body'>> & { body?: string | Uint8Array };

/** Signs with the sender's values, diagnoses with the receiver's, and returns the ids of the causes. */
function causes(sent: Partial<Sent>, had: Had = {}): string[] {
  const body = asBytes(sent.body ?? JSON.stringify(event));
  const stamp = sent.timestamp ?? timestamp;
  const build = sent.message ?? ((time, content) => [time, bytes('.'), content]);
  const mac = hmac(asBytes(sent.key ?? secret), build(bytes(stamp), body));
  return diagnose({
    timestamp: stamp,
    signature: (sent.encode ?? hex)(mac),
    secrets: [secret],
    ...had,
    body: asBytes(had.body ?? body),
  }).map(({ id }) => id);
}

/** Returns the event as Python's json.dumps writes it. */
const python = (options: string) =>
  execFileSync(
    'python3',
    ['-c', `import json,sys; sys.stdout.buffer.write(json.dumps(json.load(sys.stdin)${options}).encode())`],
    { input: JSON.stringify(event) },
  ).toString();
const hasPython = (() => {
  try {
    return python('') !== '';
  } catch {
    return false;
  }
})();

const compact = JSON.stringify(event);
const spaced = '{"type": "run.completed", "data": {"tags": ["a", "b"], "ok": true, "total": 1.50}}';
const parsedAgain = (text: string) => JSON.stringify(JSON.parse(text));
const windows = (text: string) => text.replaceAll('\n', '\r\n');
const lines = '{\n  "type": "run.completed",\n  "id": 7\n}';

/** Each row makes a mistake, independently of the code that undoes it. */
const mistakes: [id: string, how: string, sent: Partial<Sent>, had: Had][] = [
  ['newline_added', 'echo instead of printf', { body: compact }, { body: `${compact}\n` }],
  ['newline_added', 'an editor on Windows', { body: compact }, { body: `${compact}\r\n` }],
  ['white_space_added', 'line breaks', { body: compact }, { body: `${compact}\n\n\n` }],
  ['newline_stripped', '$(cat body)', { body: `${compact}\n` }, { body: compact }],
  ['newline_stripped', 'a CRLF', { body: `${compact}\r\n` }, { body: compact }],
  ['lf_became_crlf', 'git with autocrlf', { body: lines }, { body: windows(lines) }],
  ['crlf_became_lf', 'dos2unix', { body: windows(lines) }, { body: lines }],
  ['bom_added', 'Notepad', { body: compact }, { body: `\ufeff${compact}` }],
  ['white_space_added', 'a template', { body: compact }, { body: `  ${compact} \n` }],
  [
    'json_spaced',
    'JSON.stringify of a body from Python',
    { body: '{"a": 1, "b": [1, 2]}' },
    { body: parsedAgain('{"a": 1, "b": [1, 2]}') },
  ],
  ['json_compact', 'indented for reading', { body: compact }, { body: JSON.stringify(event, null, 2) }],
  ['json_compact', 'spaced by Python', { body: '{"a":1,"b":[]}' }, { body: '{"a": 1, "b": []}' }],
  [
    'json_indented_2',
    'parsed and written compact',
    { body: JSON.stringify(event, null, 2) },
    { body: compact },
  ],
  [
    'json_unescaped',
    'ensure_ascii',
    { body: '{"n":"Zo\\u00eb \\u2615 \\ud83d\\ude00"}' },
    { body: '{"n":"Zoë ☕ 😀"}' },
  ],
  ['json_unescaped', 'in upper case, as .NET', { body: '{"n":"Zo\\u00EB"}' }, { body: '{"n":"Zoë"}' }],
  [
    'json_escaped',
    'written by Python',
    { body: '{"n":"Zoë ☕ 😀"}' },
    { body: '{"n":"Zo\\u00eb \\u2615 \\ud83d\\ude00"}' },
  ],
  [
    'json_slashes',
    'a body from PHP',
    { body: '{"u":"https:\\/\\/x.example\\/a"}' },
    { body: '{"u":"https://x.example/a"}' },
  ],
  [
    'json_slashes',
    'a body through PHP',
    { body: '{"u":"https://x.example/a"}' },
    { body: '{"u":"https:\\/\\/x.example\\/a"}' },
  ],
  ['json_html', 'a body from Go', { body: '{"u":"a\\u0026b\\u003cc\\u003e"}' }, { body: '{"u":"a&b<c>"}' }],
  [
    'json_html',
    'a body through Go',
    { body: '{"u":"a&b<c>"}' },
    { body: '{"u":"a\\u0026b\\u003cc\\u003e"}' },
  ],
  ['compressed', 'gzip', { body: compact }, { body: gzipSync(compact) }],
  ['compressed', 'deflate', { body: compact }, { body: deflateSync(compact) }],
  ['compressed', 'brotli', { body: compact }, { body: brotliCompressSync(compact) }],
  [
    'decoded_as_latin1',
    "read as 'latin1', written as UTF-8",
    { body: '{"n":"Zoë ☕"}' },
    { body: Buffer.from('{"n":"Zoë ☕"}').toString('latin1') },
  ],
  [
    'encoded_as_latin1',
    "written as 'latin1'",
    { body: '{"n":"Zoë"}' },
    { body: Buffer.from('{"n":"Zoë"}', 'latin1') },
  ],
  ['encoded_as_utf16', 'PowerShell', { body: compact }, { body: Buffer.from(`\ufeff${compact}`, 'utf16le') }],
  ['base64_body', 'Lambda', { body: compact }, { body: Buffer.from(compact).toString('base64') }],
  [
    'headers_in_body',
    'curl -i',
    { body: compact },
    { body: `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${compact}` },
  ],
  [
    'tenant_secret',
    'a tenant secret that the service does not use yet',
    {},
    { tenantSecret: 'tenant-secret-1' },
  ],
  [
    'old_secret',
    'signed before the rotation',
    { key: 'older-secret' },
    { tenantSecret: 'tenant-secret-1', secrets: [secret, 'older-secret'] },
  ],
  ['secret_white_space', 'copied with a space', {}, { secrets: [`${secret} `] }],
  ['secret_white_space', 'echo into a file', {}, { secrets: ['unrelated', ` ${secret}\n`] }],
  ['secret_newline', 'the sender read a file', { key: `${secret}\n` }, {}],
  ['secret_quoted', 'docker --env-file', {}, { secrets: [`"${secret}"`] }],
  ['secret_list', 'commas', {}, { secrets: [`other-secret,${secret}`] }],
  ['secret_list', 'a literal \\n', {}, { secrets: [`${secret}\\nother-secret`] }],
  [
    'secret_prefix',
    'Standard Webhooks',
    { key: randomBytes(24).fill(7) },
    { secrets: [`whsec_${Buffer.alloc(24, 7).toString('base64')}`] },
  ],
  ['secret_prefix', 'only a label', { key: 'abcdef0123456789' }, { secrets: ['whsec_abcdef0123456789'] }],
  [
    'secret_hex',
    'the sender decodes',
    { key: Buffer.from('00ff10a0b1c2d3e4', 'hex') },
    { secrets: ['00ff10a0b1c2d3e4'] },
  ],
  [
    'secret_base64',
    'the sender decodes',
    { key: Buffer.alloc(32, 200) },
    { secrets: [Buffer.alloc(32, 200).toString('base64')] },
  ],
  ['timestamp_fraction', 'a database with microseconds', {}, { timestamp: '2026-01-15T12:00:00.250000Z' }],
  [
    'timestamp_fraction',
    'no fraction',
    { timestamp: '2026-01-15T12:00:00.000Z' },
    { timestamp: '2026-01-15T12:00:00Z' },
  ],
  ['timestamp_zone', '+00:00 for Z', {}, { timestamp: timestamp.replace('Z', '+00:00') }],
  ['timestamp_zone', 'Z for +00:00', { timestamp: '2026-01-15T12:00:00.250+00:00' }, { timestamp }],
  ['timestamp_zone', 'none', { timestamp: '2026-01-15T12:00:00.250' }, { timestamp }],
  ['boundary_missing', 'timestamp + body', { message: (time, body) => [time, body] }, {}],
  ['body_only', 'as GitHub signs', { message: (_time, body) => [body] }, {}],
  ['signature_base64', "digest('base64')", { encode: (mac) => Buffer.from(mac).toString('base64') }, {}],
  [
    'signature_base64',
    'after sha256=',
    { encode: (mac) => `sha256=${Buffer.from(mac).toString('base64')}` },
    {},
  ],
  ['signature_prefix', 'bare hex', { encode: (mac) => Buffer.from(mac).toString('hex') }, {}],
  ['signature_prefix', 'v1=', { encode: (mac) => `v1=${Buffer.from(mac).toString('hex')}` }, {}],
  ['timestamp_refused', 'Unix seconds', { timestamp: '1768478400' }, {}],
];

describe('diagnose with one mistake', () => {
  test.each(mistakes)('finds %s: %s', (id, _how, sent, had) => expect(causes(sent, had)).toEqual([id]));

  test('is tested for every cause', () => {
    const made = new Set(mistakes.map(([id]) => id));
    expect(Object.keys(texts).filter((id) => !made.has(id))).toEqual([]);
  });

  test('has a sentence and a remedy for every cause', () => {
    for (const text of Object.values(texts)) {
      expect(text).toHaveLength(2);
      for (const part of text) expect(part.length).toBeGreaterThan(10);
    }
  });
});

describe('diagnose names the layout', () => {
  test.each<[string, string, string, string]>([
    ['json_spaced', 'and the escapes differ', '{"n": "Zo\\u00eb", "a": 1}', '{"n":"Zoë","a":1}'],
    ['json_compact', 'and a line break was added', compact, `${JSON.stringify(event, null, 2)}\n`],
    ['json_compact', 'and both end in a line break', `${compact}\n`, `${JSON.stringify(event, null, 2)}\n`],
    ['json_spaced', 'and digits would change', spaced, spaced.replaceAll(': ', ':').replaceAll(', ', ',')],
  ])('%s: %s', (id, _how, sent, had) => expect(causes({ body: sent }, { body: had })).toEqual([id]));
});

describe.skipIf(!hasPython)('diagnose of JSON from Python', () => {
  test.each<[string, string[]]>([
    ['', ['json_spaced']],
    [', ensure_ascii=False', ['json_spaced']],
    [', indent=2', ['json_indented_2']],
  ])('recognises json.dumps(event%s) that JavaScript serialised again', (options, ids) => {
    const body = python(options);
    expect(
      causes({ body }, { body: parsedAgain(body).replace(/^.*$/s, () => JSON.stringify(event)) }),
    ).toEqual(ids);
  });
});

describe('diagnose finds nothing', () => {
  test('for a signature with an unrelated key', () => expect(causes({ key: 'unrelated' })).toEqual([]));
  test('for another body', () => expect(causes({}, { body: compact.replace('7', '8') })).toEqual([]));
  test('for an invalid signature', () => {
    for (const signature of ['', 'sha256=', 'sha256=xyz', 'é'.repeat(64)])
      expect(causes({}, { signature })).toEqual([]);
  });
  test('for a body that is too large', () => {
    const body = new Uint8Array(maxDiagnosedBytes + 1);
    expect(causes({ body: body.subarray(1) }, { body })).toEqual([]);
  });
  test('for two mistakes', () => {
    expect(
      causes({ encode: (mac) => Buffer.from(mac).toString('base64') }, { body: `${compact}\n` }),
    ).toEqual([]);
  });
  test('for an authentic delivery', () => {
    expect(causes({})).toEqual([]);
  });
});

describe('diagnose of hostile input', () => {
  test('never throws', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.json(), fc.string());
    fc.assert(
      fc.property(
        text,
        text,
        text,
        fc.array(
          text.filter((one) => one !== ''),
          { maxLength: 2 },
        ),
        (body, time, signature, secrets) => {
          expect(diagnose({ body: bytes(body), timestamp: time, signature, secrets })).toBeInstanceOf(Array);
        },
      ),
      { numRuns: 80 },
    );
  });

  // Quadratic code would take 400 billion steps.
  const large = maxDiagnosedBytes / 16;

  test.each<[string, Uint8Array]>([
    ['line breaks', Buffer.alloc(large, '\n')],
    ['line breaks, then a letter', Buffer.concat([Buffer.alloc(large - 1, '\n'), bytes('x')])],
    ['one long string', bytes(`"${'a'.repeat(large - 2)}"`)],
    ['backslashes', bytes(`["${'\\\\'.repeat(large / 2 - 4)}"]`)],
    ['brackets', bytes('['.repeat(large))],
    ['numbers', bytes(`[${'1,'.repeat(large / 2 - 2)}1]`)],
    ['zeros, gzipped', gzipSync(Buffer.alloc(1024 ** 3 / 4))],
    ['base64 to the end', Buffer.alloc(large, 'A')],
  ])('ends in time: %s', (_what, body) => {
    expect(causes({ key: 'unrelated' }, { body })).toEqual([]);
  });
});
