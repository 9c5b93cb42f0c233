// What `verify` answers, row by row: run on every runtime and shown in docs/webhooks.md. Nothing here may need Node.
import type { WebhookErrorCode } from '../../src/webhook/error.ts';
import { bodyOf, secretOf, text, vector } from './vectors.ts';

/** A code, or what is returned. */
export type Answer = WebhookErrorCode | { secretIndex: number; ageSeconds?: number };

export interface Row {
  /** What is asked, in a few words for the docs. */
  name: string;
  /** The options: mostly, but not always, what the type allows. */
  options(): unknown;
  answer: Answer;
}

export interface Section {
  title: string;
  rows: readonly Row[];
}

type Options = Record<string, unknown>;

const current = vector('ascii');
const accepted = { secretIndex: 0 };
const newSecret = text(secretOf(current));
const oldSecret = text(secretOf(vector('secret-old')));
const tenantSecret = text(secretOf(vector('secret-tenant')));
/** The moment that all vectors were signed at. */
const signedAt = Date.parse(current.timestamp);
const after = (milliseconds: number) => new Date(signedAt + milliseconds);

/** Node's record of the headers of a delivery, among others. */
function headers(timestamp: unknown, signature: unknown): Options {
  return {
    host: 'hooks.example.test',
    'content-type': 'application/json',
    'x-service-timestamp': timestamp,
    'x-service-signature': signature,
  };
}

/** A delivery as openssl signed it, at the moment that it was signed, changed in what is given. */
function delivery(name = 'ascii', changes: Options = {}): Options {
  const { timestamp, signature, body } = vector(name);
  return {
    body: bodyOf(body),
    headers: headers(timestamp, signature),
    secrets: newSecret,
    now: after(0),
    ...changes,
  };
}

const row = (name: string, answer: Answer, options: () => unknown): Row => ({ name, answer, options });

const withSignature = (signature: unknown) =>
  delivery('ascii', { headers: headers(current.timestamp, signature) });
const withTimestamp = (timestamp: unknown) =>
  delivery('ascii', { headers: headers(timestamp, current.signature) });
const withHeaders = (given: unknown, more: Options = {}) => delivery('ascii', { headers: given, ...more });

/** One bit of a byte changed. */
function flipped(bytes: Uint8Array, at: number, bit = 0): Uint8Array {
  const copy = new Uint8Array(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

function utf8(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

const hex = current.signature.slice('sha256='.length);
const twice = [current.signature, vector('no-fraction').signature];
const flat = (signature = 'X-Service-Signature') => [
  ...['Host', 'hooks.example.test', 'X-Service-Timestamp', current.timestamp],
  ...[signature, current.signature],
];

function pairsOf(list: readonly string[]): [string, string][] {
  return list.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, list[index + 1] ?? '']] : [],
  );
}

export const table: readonly Section[] = [
  {
    title: 'The body',
    rows: [
      row('as it was sent', accepted, () => delivery()),
      row('as text that nobody parsed', accepted, () => delivery('ascii', { body: text(bodyOf('ascii')) })),
      row('as an `ArrayBuffer`', accepted, () => delivery('ascii', { body: bodyOf('ascii').buffer })),
      row('as a view into a larger buffer', accepted, () => {
        const around = new Uint8Array(bodyOf('ascii').length + 20);
        around.set(bodyOf('ascii'), 10);
        return delivery('ascii', { body: around.subarray(10, -10) });
      }),
      row('one bit changed', 'mismatch', () => delivery('ascii', { body: flipped(bodyOf('ascii'), 20) })),
      row('`"failed":1` under the signature of `"failed":0`', 'mismatch', () =>
        delivery('ascii', { body: bodyOf('ascii-flipped') }),
      ),
      row('the last byte missing', 'mismatch', () =>
        delivery('ascii', { body: bodyOf('ascii').subarray(0, -1) }),
      ),
      row('a newline added at the end', 'mismatch', () =>
        delivery('ascii', { body: utf8(`${text(bodyOf('ascii'))}\n`) }),
      ),
      row('emoji', accepted, () => delivery('emoji')),
      row('emoji, as text', accepted, () => delivery('emoji', { body: text(bodyOf('emoji')) })),
      row('a byte order mark, signed with it', accepted, () => delivery('bom')),
      row('a byte order mark that a decoder took away', 'mismatch', () =>
        delivery('bom', { body: bodyOf('no-bom') }),
      ),
      row('a byte order mark that was not signed', 'mismatch', () =>
        delivery('no-bom', { body: bodyOf('bom') }),
      ),
      row('0xFF: bytes that are no UTF-8', accepted, () => delivery('ff')),
      row('0xFF, decoded to text: it is U+FFFD now', 'mismatch', () =>
        delivery('ff', { body: text(bodyOf('ff')) }),
      ),
      row('CRLF', accepted, () => delivery('crlf')),
      row('CRLF turned into LF', 'mismatch', () => delivery('crlf', { body: bodyOf('lf') })),
      row('LF turned into CRLF', 'mismatch', () => delivery('lf', { body: bodyOf('crlf') })),
      row('a NUL byte', accepted, () => delivery('nul')),
      row('empty', accepted, () => delivery('empty')),
      row('empty, as text', accepted, () => delivery('empty', { body: '' })),
      row('9,000 bytes', accepted, () => delivery('long')),
      row('9,000 bytes, one bit of the last one changed', 'mismatch', () =>
        delivery('long', { body: flipped(bodyOf('long'), 8999, 7) }),
      ),
      row('parsed: an object', 'body_not_raw', () =>
        delivery('ascii', { body: JSON.parse(text(bodyOf('ascii'))) }),
      ),
      row('parsed: an array', 'body_not_raw', () => delivery('ascii', { body: [] })),
      row('parsed and written again, with spaces', 'mismatch', () =>
        delivery('ascii', { body: JSON.stringify(JSON.parse(text(bodyOf('ascii'))), null, 2) }),
      ),
      row('a promise that nobody awaited', 'body_not_raw', () =>
        delivery('ascii', { body: Promise.resolve(bodyOf('ascii')) }),
      ),
      row('none', 'body_not_raw', () => delivery('ascii', { body: undefined })),
      row('`null`', 'body_not_raw', () => delivery('ascii', { body: null })),
    ],
  },
  {
    title: 'The signature',
    rows: [
      row('one bit changed', 'mismatch', () =>
        withSignature(`sha256=${hex.slice(0, -1)}${(Number.parseInt(hex.slice(-1), 16) ^ 1).toString(16)}`),
      ),
      row('of another delivery', 'mismatch', () => withSignature(vector('emoji').signature)),
      row('64 digits in upper case', accepted, () => withSignature(`sha256=${hex.toUpperCase()}`)),
      row('spaces and tabs around it, as HTTP allows', accepted, () =>
        withSignature(` \t${current.signature}\t `),
      ),
      row('`sha256=` and nothing', 'malformed_signature', () => withSignature('sha256=')),
      row('63 digits', 'malformed_signature', () => withSignature(current.signature.slice(0, -1))),
      row('65 digits', 'malformed_signature', () => withSignature(`${current.signature}0`)),
      row('no hex: a `g` among the digits', 'malformed_signature', () =>
        withSignature(`sha256=${hex.slice(0, -1)}g`),
      ),
      row('64 × `é`', 'malformed_signature', () => withSignature(`sha256=${'é'.repeat(64)}`)),
      row('64 full-width digits', 'malformed_signature', () => withSignature(`sha256=${'０'.repeat(64)}`)),
      row('a newline after it', 'malformed_signature', () => withSignature(`${current.signature}\n`)),
      row('`sha1=` and 40 digits', 'malformed_signature', () => withSignature(`sha1=${hex.slice(0, 40)}`)),
      row('`sha512=` and 64 digits', 'malformed_signature', () => withSignature(`sha512=${hex}`)),
      row('`SHA256=`', 'malformed_signature', () => withSignature(`SHA256=${hex}`)),
      row('64 digits without `sha256=`', 'malformed_signature', () => withSignature(hex)),
      row('in base64', 'malformed_signature', () =>
        withSignature('sha256=0r+urTqs2BDle4a4I4FdzBZjsTHkNz8ZeM8UWaGz748='),
      ),
      row('empty', 'malformed_signature', () => withSignature('')),
    ],
  },
  {
    title: 'The timestamp',
    rows: [
      row('three fraction digits', accepted, () => delivery('ascii')),
      row('none', accepted, () => delivery('no-fraction')),
      row('one', accepted, () => delivery('one-digit')),
      row('six', accepted, () => delivery('six-digits')),
      row('nine', accepted, () => delivery('nine-digits')),
      row('`+02:00`', { secretIndex: 0, ageSeconds: 0 }, () => delivery('ahead-of-utc')),
      row('`-05:30`', { secretIndex: 0, ageSeconds: 0 }, () => delivery('behind-utc')),
      row('`t` and `z` in lower case', accepted, () => delivery('lower-case')),
      row('29 February of a leap year', accepted, () => delivery('leap-day', { maxAge: null })),
      row('one bit changed: another second', 'mismatch', () => withTimestamp('2026-07-01T12:00:01.000Z')),
      row('the same moment, written otherwise', 'mismatch', () => withTimestamp('2026-07-01T12:00:00Z')),
      row('one bit changed: no digit', 'malformed_timestamp', () =>
        withTimestamp('2026-07-01T12:00:0p.000Z'),
      ),
      row('no zone', 'malformed_timestamp', () => delivery('no-zone')),
      row('Unix seconds', 'malformed_timestamp', () => delivery('unix-seconds')),
      row('Unix milliseconds', 'malformed_timestamp', () => delivery('unix-milliseconds')),
      row('ten fraction digits', 'malformed_timestamp', () => delivery('ten-digits')),
      row('29 February of another year', 'malformed_timestamp', () => delivery('no-such-day')),
      row('24 o’clock', 'malformed_timestamp', () => delivery('no-such-hour')),
      row('`+0200`', 'malformed_timestamp', () => delivery('short-offset')),
      row('a space instead of `T`', 'malformed_timestamp', () => delivery('space')),
      row('a date alone', 'malformed_timestamp', () => delivery('date-only')),
      row('a date as HTTP writes it', 'malformed_timestamp', () => delivery('http-date')),
      row(
        'the boundary moved: `…00.000Z` + body sent as `…00` + `000Z.` + body, under one MAC',
        'malformed_timestamp',
        () => delivery('shifted'),
      ),
      row('a newline after it', 'malformed_timestamp', () => withTimestamp(`${current.timestamp}\n`)),
      row('empty', 'malformed_timestamp', () => withTimestamp('')),
    ],
  },
  {
    title: 'The age',
    rows: [
      row('300 s old', { secretIndex: 0, ageSeconds: 300 }, () => delivery('ascii', { now: after(300_000) })),
      row('300.001 s old', 'too_old', () => delivery('ascii', { now: after(300_001) })),
      row('301 s old', 'too_old', () => delivery('ascii', { now: after(301_000) })),
      row('60 s ahead', { secretIndex: 0, ageSeconds: -60 }, () =>
        delivery('ascii', { now: after(-60_000) }),
      ),
      row('60.001 s ahead', 'too_new', () => delivery('ascii', { now: after(-60_001) })),
      row('61 s ahead', 'too_new', () => delivery('ascii', { now: after(-61_000) })),
      row('10 s old, `maxAge` 10', accepted, () => delivery('ascii', { now: after(10_000), maxAge: 10 })),
      row('11 s old, `maxAge` 10', 'too_old', () => delivery('ascii', { now: after(11_000), maxAge: 10 })),
      row('a year old, `maxAge` null', accepted, () =>
        delivery('ascii', { now: after(31_536_000_000), maxAge: null }),
      ),
      row('a year ahead, `maxFuture` null', accepted, () =>
        delivery('ascii', { now: after(-31_536_000_000), maxFuture: null }),
      ),
      row('a year ahead, `maxAge` null', 'too_new', () =>
        delivery('ascii', { now: after(-31_536_000_000), maxAge: null }),
      ),
      row('301 s old and not authentic', 'mismatch', () =>
        delivery('ascii', { now: after(301_000), secrets: oldSecret }),
      ),
      row('`maxAge` 0', 'bad_option', () => delivery('ascii', { maxAge: 0 })),
      row('`maxFuture` 0', 'bad_option', () => delivery('ascii', { maxFuture: 0 })),
      row('`maxAge` below 0', 'bad_option', () => delivery('ascii', { maxAge: -1 })),
      row('`maxAge` NaN', 'bad_option', () => delivery('ascii', { maxAge: Number.NaN })),
      row('`maxAge` as text', 'bad_option', () => delivery('ascii', { maxAge: '300' })),
      row('`now` as a number', 'bad_option', () => delivery('ascii', { now: signedAt })),
      row('`now` an invalid date', 'bad_option', () => delivery('ascii', { now: new Date('never') })),
    ],
  },
  {
    title: 'The secrets',
    rows: [
      row('the current one', { secretIndex: 0 }, () => delivery()),
      row('the current one, as bytes', { secretIndex: 0 }, () =>
        delivery('ascii', { secrets: secretOf(current) }),
      ),
      row('the current and the old one, signed with the current', { secretIndex: 0 }, () =>
        delivery('ascii', { secrets: [newSecret, oldSecret] }),
      ),
      row('the current and the old one, signed with the old', { secretIndex: 1 }, () =>
        delivery('secret-old', { secrets: [newSecret, oldSecret] }),
      ),
      row('the same one twice', { secretIndex: 0 }, () =>
        delivery('ascii', { secrets: [newSecret, newSecret] }),
      ),
      row('another one', 'mismatch', () => delivery('ascii', { secrets: [oldSecret] })),
      row('with a space after it', 'mismatch', () => delivery('ascii', { secrets: `${newSecret} ` })),
      row('bytes that are no text', accepted, () =>
        delivery('secret-binary', { secrets: secretOf(vector('secret-binary')) }),
      ),
      row('an emoji in it', accepted, () =>
        delivery('secret-emoji', { secrets: text(secretOf(vector('secret-emoji'))) }),
      ),
      row('100 bytes', accepted, () => delivery('secret-long', { secrets: secretOf(vector('secret-long')) })),
      row('100 bytes, as text', accepted, () =>
        delivery('secret-long', { secrets: text(secretOf(vector('secret-long'))) }),
      ),
      row('the tenant’s and the webhook’s, signed with the tenant’s', { secretIndex: 0 }, () =>
        delivery('secret-tenant', { secrets: [oldSecret, newSecret], tenantSecret }),
      ),
      row('the tenant’s and the webhook’s, signed with the webhook’s', 'mismatch', () =>
        delivery('ascii', { secrets: [newSecret], tenantSecret }),
      ),
      row('the tenant’s alone', { secretIndex: 0 }, () =>
        delivery('secret-tenant', { secrets: undefined, tenantSecret }),
      ),
      row('none', 'no_secret', () => delivery('ascii', { secrets: undefined })),
      row('an empty list', 'no_secret', () => delivery('ascii', { secrets: [] })),
      row('empty text', 'no_secret', () => delivery('ascii', { secrets: '' })),
      row('no bytes', 'no_secret', () => delivery('ascii', { secrets: new Uint8Array() })),
      row('one in the list empty', 'no_secret', () => delivery('ascii', { secrets: [newSecret, ''] })),
      row('one in the list undefined', 'no_secret', () =>
        delivery('ascii', { secrets: [undefined, newSecret] }),
      ),
      row('the tenant’s empty', 'no_secret', () => delivery('ascii', { tenantSecret: '' })),
      row('a number', 'bad_option', () => delivery('ascii', { secrets: 42 })),
      row('`null`', 'bad_option', () => delivery('ascii', { secrets: null })),
    ],
  },
  {
    title: 'The headers',
    rows: [
      row('Node’s record', accepted, () => delivery()),
      row('a record with names in mixed case', accepted, () =>
        withHeaders({ 'X-SERVICE-timestamp': current.timestamp, 'x-Service-SIGNATURE': current.signature }),
      ),
      row('a record with lists of one value', accepted, () =>
        withHeaders(headers([current.timestamp], [current.signature])),
      ),
      row('a record without a prototype', accepted, () =>
        withHeaders(Object.assign(Object.create(null), headers(current.timestamp, current.signature))),
      ),
      row('`Headers`', accepted, () => withHeaders(new Headers(pairsOf(flat())))),
      row('pairs', accepted, () => withHeaders(pairsOf(flat('x-SERVICE-signature')))),
      row('a `Map`', accepted, () => withHeaders(new Map(pairsOf(flat())))),
      row('`rawHeaders`', accepted, () => withHeaders(flat('X-SERVICE-SIGNATURE'))),
      row('other names, set by `headerNames`', accepted, () =>
        withHeaders(
          { 'webhook-timestamp': current.timestamp, 'webhook-signature': current.signature },
          { headerNames: { timestamp: 'Webhook-Timestamp', signature: 'Webhook-Signature' } },
        ),
      ),
      row('one other name, set by `headerNames`', accepted, () =>
        withHeaders(
          { 'x-service-timestamp': current.timestamp, 'x-hub-signature-256': current.signature },
          { headerNames: { signature: 'X-Hub-Signature-256' } },
        ),
      ),
      row('other names, not set', 'missing_header', () =>
        withHeaders({ 'webhook-timestamp': current.timestamp, 'webhook-signature': current.signature }),
      ),
      row('no timestamp', 'missing_header', () => withHeaders({ 'x-service-signature': current.signature })),
      row('no signature', 'missing_header', () => withHeaders({ 'x-service-timestamp': current.timestamp })),
      row('no signature in `Headers`', 'missing_header', () =>
        withHeaders(new Headers({ 'x-service-timestamp': current.timestamp })),
      ),
      row('an empty list of values', 'missing_header', () => withHeaders(headers(current.timestamp, []))),
      row('two signatures as a list', 'duplicate_header', () =>
        withHeaders(headers(current.timestamp, twice)),
      ),
      row('the same signature twice', 'duplicate_header', () =>
        withHeaders(headers(current.timestamp, [current.signature, current.signature])),
      ),
      row('two signatures joined by a comma', 'duplicate_header', () =>
        withHeaders(headers(current.timestamp, twice.join(', '))),
      ),
      row('two signatures in `Headers`', 'duplicate_header', () => {
        const given = new Headers(pairsOf(flat()));
        given.append('X-Service-Signature', twice[1] ?? '');
        return withHeaders(given);
      }),
      row('two signatures as pairs', 'duplicate_header', () =>
        withHeaders([...pairsOf(flat()), ['x-service-signature', twice[1]]]),
      ),
      row('two signatures in `rawHeaders`', 'duplicate_header', () =>
        withHeaders([...flat(), 'x-service-signature', twice[1]]),
      ),
      row('two names of one signature, in upper and in lower case', 'duplicate_header', () =>
        withHeaders({ ...headers(current.timestamp, current.signature), 'X-Service-Signature': twice[1] }),
      ),
      row('two timestamps', 'duplicate_header', () =>
        withHeaders(headers([current.timestamp, current.timestamp], current.signature)),
      ),
      row('a value that is no text', 'bad_option', () => withHeaders(headers(current.timestamp, 42))),
      row('a list of names and values that ends in a name', 'bad_option', () =>
        withHeaders([...flat(), 'Host']),
      ),
      row('a promise that nobody awaited', 'bad_option', () => withHeaders(Promise.resolve(new Headers()))),
      row('none', 'bad_option', () => withHeaders(undefined)),
      row('a name that no header can have', 'bad_option', () =>
        delivery('ascii', { headerNames: { signature: 'X Service' } }),
      ),
    ],
  },
  {
    title: 'The call',
    rows: [
      row('`verify()`', 'bad_option', () => undefined),
      row('`verify(null)`', 'bad_option', () => null),
      row('`verify(body)`', 'bad_option', () => text(bodyOf('ascii'))),
      row('`verify({})`', 'no_secret', () => ({})),
      row('an option that throws when it is read', 'bad_option', () =>
        Object.defineProperty(delivery(), 'body', {
          get() {
            throw new TypeError('not yours');
          },
        }),
      ),
    ],
  },
];

type Verify = (options: never) => unknown;

/** What a `verify` answers, as the table writes it; a string that is no code for anything but the one class. */
export async function answerOf(verify: Verify, options: unknown): Promise<unknown> {
  try {
    const { secretIndex, ageSeconds } = (await verify(options as never)) as Exclude<Answer, string>;
    return { secretIndex, ageSeconds };
  } catch (error) {
    const { name, code } = error as { name?: unknown; code?: unknown };
    return name === 'WebhookVerificationError' ? code : `another class: ${String(error)}`;
  }
}

/** Whether an answer is the row's. */
export function isAnswer(given: unknown, { answer }: Row): boolean {
  if (typeof answer === 'string') return given === answer;
  const { secretIndex, ageSeconds } = given as Exclude<Answer, string>;
  return (
    secretIndex === answer.secretIndex &&
    (answer.ageSeconds === undefined || ageSeconds === answer.ageSeconds)
  );
}
