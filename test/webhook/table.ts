// The expected results of `verify`, run on every runtime and shown in docs/project/webhook-vectors.md. Do not use Node's modules here.
import type { WebhookErrorCode } from '../../src/webhook/error.ts';
import { bodyOf, secretOf, text, vector } from './vectors.ts';

/** The code of the error, or a part of the result. */
export type Expected = WebhookErrorCode | { secretIndex: number; ageSeconds?: number };

export interface Row {
  /** The case, in a few words for the docs. */
  name: string;
  /** The options, which some rows give a wrong type. */
  options(): unknown;
  expected: Expected;
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
/** The time at which all vectors were signed. */
const signedAt = Date.parse(current.timestamp);
const after = (milliseconds: number) => new Date(signedAt + milliseconds);

/** Returns the headers of a delivery as Node's record. */
function headers(timestamp: unknown, signature: unknown): Options {
  return {
    host: 'hooks.example.test',
    'content-type': 'application/json',
    'x-service-timestamp': timestamp,
    'x-service-signature': signature,
  };
}

/** Returns a delivery that openssl signed, with `now` at the time of signing, and with the given changes. */
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

const row = (name: string, expected: Expected, options: () => unknown): Row => ({ name, expected, options });

const withSignature = (signature: unknown) =>
  delivery('ascii', { headers: headers(current.timestamp, signature) });
const withTimestamp = (timestamp: unknown) =>
  delivery('ascii', { headers: headers(timestamp, current.signature) });
const withHeaders = (given: unknown, more: Options = {}) => delivery('ascii', { headers: given, ...more });

/** Flips one bit of a byte. */
function flipped(bytes: Uint8Array, at: number, bit = 0): Uint8Array {
  const copy = new Uint8Array(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

function utf8(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

const hex = current.signature.slice('sha256='.length);
const twoSignatures = [current.signature, vector('no-fraction').signature];
const pairs = (signature = 'X-Service-Signature'): [string, string][] => [
  ['Host', 'hooks.example.test'],
  ['X-Service-Timestamp', current.timestamp],
  [signature, current.signature],
];

/** Timestamps and their vectors. */
const accurate = [
  ['no fraction', 'no-fraction'],
  ['six fraction digits', 'six-digits'],
  ['nine fraction digits', 'nine-digits'],
  ['`t` and `z` in lower case', 'lower-case'],
] as const;
const refused = [
  ['no zone', 'no-zone'],
  ['Unix seconds', 'unix-seconds'],
  ['ten fraction digits', 'ten-digits'],
  ['29 February of another year', 'no-such-day'],
  ['hour 24', 'no-such-hour'],
  ['`+0200`', 'short-offset'],
  ['a space instead of `T`', 'space'],
  ['only a date', 'date-only'],
  ['an HTTP date', 'http-date'],
] as const;

export const table: readonly Section[] = [
  {
    title: 'The body',
    rows: [
      row('the signed bytes', accepted, () => delivery()),
      row('unparsed text', accepted, () => delivery('ascii', { body: text(bodyOf('ascii')) })),
      row('an `ArrayBuffer`', accepted, () => delivery('ascii', { body: bodyOf('ascii').buffer })),
      row('a view into a larger buffer', accepted, () => {
        const around = new Uint8Array(bodyOf('ascii').length + 20);
        around.set(bodyOf('ascii'), 10);
        return delivery('ascii', { body: around.subarray(10, -10) });
      }),
      row('one bit changed', 'mismatch', () => delivery('ascii', { body: flipped(bodyOf('ascii'), 20) })),
      row('a newline added at the end', 'mismatch', () =>
        delivery('ascii', { body: utf8(`${text(bodyOf('ascii'))}\n`) }),
      ),
      row('emoji', accepted, () => delivery('emoji')),
      row('a byte order mark that was signed', accepted, () => delivery('bom')),
      row('a byte order mark that a decoder removed', 'mismatch', () =>
        delivery('bom', { body: bodyOf('no-bom') }),
      ),
      row('0xFF: bytes that are not UTF-8', accepted, () => delivery('ff')),
      row('0xFF, decoded to text: now U+FFFD', 'mismatch', () =>
        delivery('ff', { body: text(bodyOf('ff')) }),
      ),
      row('CRLF turned into LF', 'mismatch', () => delivery('crlf', { body: bodyOf('lf') })),
      row('a NUL byte', accepted, () => delivery('nul')),
      row('empty', accepted, () => delivery('empty')),
      row('parsed: an object', 'body_not_raw', () =>
        delivery('ascii', { body: JSON.parse(text(bodyOf('ascii'))) }),
      ),
      row('parsed and serialised again, with spaces', 'mismatch', () =>
        delivery('ascii', { body: JSON.stringify(JSON.parse(text(bodyOf('ascii'))), null, 2) }),
      ),
      row('missing', 'body_not_raw', () => delivery('ascii', { body: undefined })),
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
      row('63 digits', 'malformed_signature', () => withSignature(current.signature.slice(0, -1))),
      row('64 full-width digits', 'malformed_signature', () => withSignature(`sha256=${'０'.repeat(64)}`)),
      row('a newline after it', 'malformed_signature', () => withSignature(`${current.signature}\n`)),
      row('`sha512=` and 64 digits', 'malformed_signature', () => withSignature(`sha512=${hex}`)),
      row('`SHA256=`', 'malformed_signature', () => withSignature(`SHA256=${hex}`)),
      row('64 digits without `sha256=`', 'malformed_signature', () => withSignature(hex)),
      row('empty', 'malformed_signature', () => withSignature('')),
    ],
  },
  {
    title: 'The timestamp',
    rows: [
      ...accurate.map(([name, file]) => row(name, accepted, () => delivery(file))),
      ...refused.map(([name, file]) => row(name, 'malformed_timestamp', () => delivery(file))),
      row('`+02:00`', { secretIndex: 0, ageSeconds: 0 }, () => delivery('ahead-of-utc')),
      row('29 February of a leap year', accepted, () => delivery('leap-day', { maxAge: null })),
      row('one bit changed: another second', 'mismatch', () => withTimestamp('2026-07-01T12:00:01.000Z')),
      row('the same time, written differently', 'mismatch', () => withTimestamp('2026-07-01T12:00:00Z')),
      row(
        'the boundary moved: `…00.000Z` + body sent as `…00` + `000Z.` + body, with the same MAC',
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
      row('60 s ahead', { secretIndex: 0, ageSeconds: -60 }, () =>
        delivery('ascii', { now: after(-60_000) }),
      ),
      row('60.001 s ahead', 'too_new', () => delivery('ascii', { now: after(-60_001) })),
      row('11 s old, `maxAge` 10', 'too_old', () => delivery('ascii', { now: after(11_000), maxAge: 10 })),
      row('a year old, `maxAge` null', accepted, () =>
        delivery('ascii', { now: after(31_536_000_000), maxAge: null }),
      ),
      row('a year ahead, `maxAge` null', 'too_new', () =>
        delivery('ascii', { now: after(-31_536_000_000), maxAge: null }),
      ),
      row('301 s old and not authentic', 'mismatch', () =>
        delivery('ascii', { now: after(301_000), secrets: oldSecret }),
      ),
      row('`maxAge` 0', 'bad_option', () => delivery('ascii', { maxAge: 0 })),
      row('`maxAge` NaN', 'bad_option', () => delivery('ascii', { maxAge: Number.NaN })),
      row('`now` as an invalid date', 'bad_option', () => delivery('ascii', { now: new Date('never') })),
    ],
  },
  {
    title: 'The secrets',
    rows: [
      row('the current secret', { secretIndex: 0 }, () => delivery()),
      row('the current secret, as bytes', { secretIndex: 0 }, () =>
        delivery('ascii', { secrets: secretOf(current) }),
      ),
      row('current and old secret, signed with the current one', { secretIndex: 0 }, () =>
        delivery('ascii', { secrets: [newSecret, oldSecret] }),
      ),
      row('current and old secret, signed with the old one', { secretIndex: 1 }, () =>
        delivery('secret-old', { secrets: [newSecret, oldSecret] }),
      ),
      row('another secret', 'mismatch', () => delivery('ascii', { secrets: [oldSecret] })),
      row('bytes that are not text', accepted, () =>
        delivery('secret-binary', { secrets: secretOf(vector('secret-binary')) }),
      ),
      row('a secret with an emoji', accepted, () =>
        delivery('secret-emoji', { secrets: text(secretOf(vector('secret-emoji'))) }),
      ),
      row('tenant and webhook secret, signed with the tenant’s', { secretIndex: 0 }, () =>
        delivery('secret-tenant', { secrets: [oldSecret, newSecret], tenantSecret }),
      ),
      row('tenant and webhook secret, signed with the webhook’s', 'mismatch', () =>
        delivery('ascii', { secrets: [newSecret], tenantSecret }),
      ),
      row('only the tenant secret', { secretIndex: 0 }, () =>
        delivery('secret-tenant', { secrets: undefined, tenantSecret }),
      ),
      row('missing', 'no_secret', () => delivery('ascii', { secrets: undefined })),
      row('an empty list', 'no_secret', () => delivery('ascii', { secrets: [] })),
      row('empty text', 'no_secret', () => delivery('ascii', { secrets: '' })),
      row('a list with an empty secret', 'no_secret', () => delivery('ascii', { secrets: [newSecret, ''] })),
      row('an empty tenant secret', 'no_secret', () => delivery('ascii', { tenantSecret: '' })),
      row('a number', 'bad_option', () => delivery('ascii', { secrets: 42 })),
    ],
  },
  {
    title: 'The headers',
    rows: [
      row('Node’s record', accepted, () => delivery()),
      row('a record with names in mixed case', accepted, () =>
        withHeaders({ 'X-SERVICE-timestamp': current.timestamp, 'x-Service-SIGNATURE': current.signature }),
      ),
      row('`Headers`', accepted, () => withHeaders(new Headers(pairs()))),
      row('pairs', accepted, () => withHeaders(pairs('x-SERVICE-signature'))),
      row('other names, set with `headerNames`', accepted, () =>
        withHeaders(
          { 'webhook-timestamp': current.timestamp, 'webhook-signature': current.signature },
          { headerNames: { timestamp: 'Webhook-Timestamp', signature: 'Webhook-Signature' } },
        ),
      ),
      row('other names, not set', 'missing_header', () =>
        withHeaders({ 'webhook-timestamp': current.timestamp, 'webhook-signature': current.signature }),
      ),
      row('no timestamp', 'missing_header', () => withHeaders({ 'x-service-signature': current.signature })),
      row('no signature', 'missing_header', () => withHeaders({ 'x-service-timestamp': current.timestamp })),
      row('two signatures as a list', 'duplicate_header', () =>
        withHeaders(headers(current.timestamp, twoSignatures)),
      ),
      row('two signatures joined by a comma', 'duplicate_header', () =>
        withHeaders(headers(current.timestamp, twoSignatures.join(', '))),
      ),
      row('two signatures as pairs', 'duplicate_header', () =>
        withHeaders([...pairs(), ['x-service-signature', twoSignatures[1]]]),
      ),
      row('two signatures whose names differ in case', 'duplicate_header', () =>
        withHeaders({
          ...headers(current.timestamp, current.signature),
          'X-Service-Signature': twoSignatures[1],
        }),
      ),
      row('two timestamps', 'duplicate_header', () =>
        withHeaders(headers([current.timestamp, current.timestamp], current.signature)),
      ),
      row('missing', 'bad_option', () => withHeaders(undefined)),
    ],
  },
  {
    title: 'The call',
    rows: [
      row('`verify({})`', 'no_secret', () => ({})),
      row('an option whose getter throws', 'bad_option', () =>
        Object.defineProperty(delivery(), 'body', {
          get() {
            throw new TypeError('cannot be read');
          },
        }),
      ),
    ],
  },
];

type Verify = (options: never) => unknown;

/** Returns the result of a `verify` in the form of the table, or a description of an unexpected error. */
export async function outcomeOf(verify: Verify, options: unknown): Promise<unknown> {
  try {
    const { secretIndex, ageSeconds } = (await verify(options as never)) as Exclude<Expected, string>;
    return { secretIndex, ageSeconds };
  } catch (error) {
    const { name, code } = error as { name?: unknown; code?: unknown };
    return name === 'WebhookVerificationError' ? code : `another class: ${String(error)}`;
  }
}

/** Returns whether an outcome is what the row expects. */
export function isExpected(outcome: unknown, { expected }: Row): boolean {
  if (typeof expected === 'string') return outcome === expected;
  const { secretIndex, ageSeconds } = outcome as Exclude<Expected, string>;
  return (
    secretIndex === expected.secretIndex &&
    (expected.ageSeconds === undefined || ageSeconds === expected.ageSeconds)
  );
}
