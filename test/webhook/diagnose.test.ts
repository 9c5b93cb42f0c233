import { createHmac } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { causes as texts } from '../../src/webhook/diagnose/causes.ts';
import { type DiagnoseInput, diagnose, maxDiagnosedBytes } from '../../src/webhook/diagnose/diagnose.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
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
  key: string;
}

const asBytes = (value: string | Uint8Array) => (typeof value === 'string' ? bytes(value) : value);

/** The receiver's values, after a mistake. */
type Had = Partial<Omit<DiagnoseInput, 'body'>> & { body?: string | Uint8Array };

/** Signs with the sender's values, diagnoses with the receiver's, and returns the ids of the causes. */
function causes(sent: Partial<Sent>, had: Had = {}): string[] {
  const body = asBytes(sent.body ?? JSON.stringify(event));
  const stamp = sent.timestamp ?? timestamp;
  const mac = createHmac('sha256', sent.key ?? secret)
    .update(`${stamp}.`)
    .update(body)
    .digest('hex');
  return diagnose({
    timestamp: stamp,
    signature: `sha256=${mac}`,
    secrets: [secret],
    ...had,
    body: asBytes(had.body ?? body),
  }).map(({ id }) => id);
}

const compact = JSON.stringify(event);
const indented = JSON.stringify(event, null, 2);
const windows = (text: string) => text.replaceAll('\n', '\r\n');
const lines = '{\n  "type": "run.completed",\n  "id": 7\n}';

/** Each row makes a mistake, independently of the code that undoes it. */
const mistakes: [id: string, how: string, sent: Partial<Sent>, had: Had][] = [
  ['newline_added', 'echo instead of printf', { body: compact }, { body: `${compact}\n` }],
  ['newline_stripped', '$(cat body)', { body: `${compact}\n` }, { body: compact }],
  ['line_breaks_changed', 'git with autocrlf', { body: lines }, { body: windows(lines) }],
  ['bom_added', 'Notepad', { body: compact }, { body: `\ufeff${compact}` }],
  ['json_rewritten', 'indented for reading', { body: compact }, { body: `${indented}\n` }],
  ['json_rewritten', 'parsed and written compact', { body: indented }, { body: compact }],
  ['json_rewritten', 'numbers that would change', { body: '{"a": 1.50}' }, { body: '{"a":1.50}' }],
  [
    'json_rewritten',
    'a body through Python',
    { body: '{"n":"Zoë ☕ 😀","a":1}' },
    { body: '{"n": "Zo\\u00eb \\u2615 \\ud83d\\ude00", "a": 1}\n' },
  ],
  ['json_rewritten', 'PHP', { body: '{"u":"https:\\/\\/x\\/\\u00eb"}' }, { body: '{"u":"https://x/ë"}' }],
  ['json_rewritten', 'Go', { body: '{"u":"a\\u0026b\\u003cc\\u003e"}' }, { body: '{"u":"a&b<c>"}' }],
  ['compressed', 'gzip', { body: compact }, { body: gzipSync(compact) }],
  ['compressed', 'brotli', { body: compact }, { body: brotliCompressSync(compact) }],
  [
    'encoding_changed',
    'read as latin1',
    { body: compact },
    { body: Buffer.from(compact).toString('latin1') },
  ],
  ['encoding_changed', 'PowerShell', { body: compact }, { body: Buffer.from(`\ufeff${compact}`, 'utf16le') }],
  ['base64_body', 'Lambda', { body: compact }, { body: Buffer.from(compact).toString('base64') }],
  ['headers_in_body', 'curl -i', { body: compact }, { body: `HTTP/1.1 200 OK\r\nA: b\r\n\r\n${compact}` }],
  ['tenant_secret', 'not used yet', {}, { tenantSecret: 'tenant-secret-1' }],
  ['secret_white_space', 'echo into a file', {}, { secrets: ['unrelated', ` ${secret}\n`] }],
  ['secret_quoted', 'docker --env-file', {}, { secrets: [`"${secret}"`] }],
  ['secret_list', 'commas', {}, { secrets: [`other-secret,${secret}`] }],
  ['timestamp_rewritten', 'a database with microseconds', {}, { timestamp: '2026-01-15T12:00:00.250000Z' }],
];

describe('diagnose with one mistake', () => {
  test.each(mistakes)('finds %s: %s', (id, _how, sent, had) => expect(causes(sent, had)).toEqual([id]));

  test('is tested for every cause', () => {
    const made = new Set(mistakes.map(([id]) => id));
    expect(Object.keys(texts).filter((id) => !made.has(id))).toEqual([]);
  });
});

describe('diagnose finds nothing', () => {
  test('for a signature with an unrelated key', () => expect(causes({ key: 'unrelated' })).toEqual([]));
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
