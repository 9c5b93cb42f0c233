import { textResponse } from '../response.ts';
import {
  after,
  answer,
  changed,
  dateAt,
  fieldsOfOtherTypes,
  half,
  html,
  instead,
  json,
  limited,
  redirect,
  statusResponse,
  withFields,
} from './play.ts';

/** The parameters of the kinds of faults that have any. */
export interface FaultParameters {
  status: {
    status: number;
    /** A string is sent unchanged, anything else as JSON; by default an error body of the service. */
    body?: unknown;
    headers?: Readonly<Record<string, string>>;
  };
  reply: { text: string; contentType?: string };
  /** Top-level fields to replace, and fields and headers to remove. */
  patch: { merge?: Readonly<Record<string, unknown>>; remove?: readonly string[] };
  /** How long the port stays closed, on the mock's clock; default 5000. */
  refused: { forMs?: number };
  /** Milliseconds of real time between two bytes; default 1000. */
  drip: { everyMs?: number };
  'limited-seconds': { seconds?: number };
  'clock-off': { byMs?: number };
  /** How much later the delivery arrives, on the mock's clock; default 5000. */
  delay: { byMs?: number };
  /** How long the delivery waits for the next one, on the mock's clock; default 5000. */
  reorder: { byMs?: number };
  /** How long the status of the run still says `in_progress`, on the mock's clock; default 5000. */
  early: { byMs?: number };
}

// Written out, since the types of the library must not contain the table.
/** The name of a kind of fault of requests. */
export type RequestFaultKind =
  | 'status'
  | 'reply'
  | 'patch'
  | 'refused'
  | 'reset'
  | 'reset-during'
  | 'reset-after'
  | 'reset-reused'
  | 'reset-after-commit'
  | 'black-hole'
  | 'stall-headers'
  | 'stall-body'
  | 'drip'
  | 'truncated'
  | 'cut-json'
  | 'length-larger'
  | 'length-smaller'
  | 'html-200'
  | 'html-502'
  | 'empty-200'
  | 'wrong-types'
  | 'unknown-state'
  | 'backwards'
  | 'in-progress'
  | 'key-reuse'
  | 'limited'
  | 'limited-seconds'
  | 'limited-date'
  | 'limited-past'
  | 'limited-absurd'
  | 'burst'
  | 'redirect-same'
  | 'redirect-other'
  | 'huge'
  | 'deep'
  | 'gzip-bomb'
  | 'clock-off';

const hourMs = 3_600_000;
const megabyte = 1_000_000;

/** How often each fault was played, for kinds that change from request to request. */
const played = new WeakMap<object, number>();
function timesPlayed(fault: unknown): number {
  const count = played.get(fault as object) ?? 0;
  played.set(fault as object, count + 1);
  return count;
}

/** 100 MB compressed to 100 kB; created only once, because that is slow. */
let bomb: Uint8Array | undefined;

/** The kinds of faults of requests. */
export const requestKinds = {
  status: instead<FaultParameters['status']>(
    'this status code, with text unchanged and any other body as JSON',
    (wire, { status, body, headers }) => wire.send(statusResponse(status, body, headers)),
    { unnamed: true, requires: 'status', parameters: '`status`, `body?`, `headers?`' },
  ),
  reply: instead<FaultParameters['reply']>(
    '200 with this text',
    (wire, { text, contentType = json }) =>
      wire.send(textResponse(200, text, { 'content-type': contentType })),
    { unnamed: true, requires: 'text', parameters: '`text`, `contentType?`' },
  ),
  patch: after<FaultParameters['patch']>(
    'the JSON with fields replaced, or fields and headers removed',
    (wire, response, { merge = {}, remove = [] }) => {
      const patched = withFields(response, (fields) => {
        for (const [name, value] of Object.entries(merge)) fields.set(name, JSON.stringify(value));
        for (const name of remove) fields.delete(name);
      });
      const headers = Object.entries(response.headers).filter(([name]) => !remove.includes(name));
      wire.send({ ...patched, headers: Object.fromEntries(headers) });
    },
    { unnamed: true, parameters: '`merge?`, `remove?`' },
  ),

  refused: instead<FaultParameters['refused']>(
    'resets of all connections, then 5 s of refused ones',
    (wire, { forMs = 5000 }) => wire.refuse(forMs),
    { duration: 'forMs' },
  ),
  reset: instead('a connection reset before any response', (wire) => wire.reset()),
  'reset-during': after('the headers, then a reset', async (wire, response) => {
    await wire.sendPart(response, 1);
    wire.reset();
  }),
  'reset-after': after('the whole response, then a reset', async (wire, response) => {
    await wire.sendPart(response, response.body.length);
    // The kernel has the bytes by now; after a moment they have arrived.
    setTimeout(() => wire.reset(), 5);
  }),
  'reset-reused': instead('a reset, but only on a reused connection', async (wire) => {
    if (wire.reused) wire.reset();
    else wire.send(await wire.handle());
  }),
  'reset-after-commit': after('a reset: the request is handled, its response lost', (wire) => wire.reset()),
  'black-hole': instead('nothing, and the connection is no longer read', (wire) => wire.ignore()),
  'stall-headers': instead('nothing', () => undefined),
  'stall-body': after('the headers and up to five bytes, then nothing', (wire, response) =>
    wire.sendPart(response, Math.min(5, half(response))),
  ),
  drip: after<FaultParameters['drip']>(
    'one byte of the body per second of real time',
    (wire, response, { everyMs = 1000 }) => wire.drip(response, everyMs),
    { duration: 'everyMs' },
  ),
  truncated: after('half of the body, then a closed connection', async (wire, response) => {
    await wire.sendPart(response, half(response));
    wire.close();
  }),
  'cut-json': after('a complete 200 with half of the JSON text', (wire, response) =>
    wire.send({ ...response, status: 200, body: response.body.subarray(0, half(response)) }),
  ),
  'length-larger': after('a Content-Length 10 bytes too large', async (wire, response) => {
    await wire.sendPart(response, response.body.length, response.body.length + 10);
    wire.close();
  }),
  'length-smaller': after('a Content-Length of half the body', (wire, response) =>
    wire.send(response, half(response)),
  ),

  'html-200': answer('a login page with 200', 200, '<!doctype html><title>Log in</title><form></form>', html),
  'html-502': answer(
    "a proxy's error page with 502",
    502,
    '<html><title>502 Bad Gateway</title></html>',
    html,
  ),
  'empty-200': answer('200 without a body', 200, ''),
  'wrong-types': after('every field with another type', (wire, response) =>
    wire.send(changed(response, fieldsOfOtherTypes)),
  ),
  'unknown-state': after('the run state "defrosting"', (wire, response) =>
    wire.send(
      withFields(response, (fields) => {
        if (fields.has('state')) fields.set('state', '"defrosting"');
      }),
    ),
  ),
  backwards: after('run counts that decrease: 7, 6, …', (wire, response, fault) => {
    const count = String(Math.max(0, 7 - timesPlayed(fault)));
    const decreasing = withFields(response, (fields) => {
      if (fields.get('state') === '"in_progress"') fields.set('failed', count).set('blocked', count);
    });
    wire.send(decreasing);
  }),

  'in-progress': answer(
    '409 "in progress"',
    409,
    '{"error":"Request in progress","details":"the first request with this key is still in progress"}',
  ),
  'key-reuse': answer(
    '422 "key reused"',
    422,
    '{"error":"Idempotency key reused","details":"this key was used with another body"}',
  ),
  limited: limited('429 without Retry-After', () => ({})),
  'limited-seconds': limited<FaultParameters['limited-seconds']>(
    '429 with Retry-After: 7',
    (_now, { seconds = 7 }) => ({ 'retry-after': String(seconds) }),
    { parameters: '`seconds?`' },
  ),
  'limited-date': limited('429 with a date 10 s ahead in Retry-After', (now) => ({
    'retry-after': dateAt(now + 10_000),
  })),
  'limited-past': limited('429 with a date an hour ago in Retry-After', (now) => ({
    'retry-after': dateAt(now - hourMs),
  })),
  'limited-absurd': limited('429 with Retry-After: 99999999999', () => ({ 'retry-after': '99999999999' })),
  burst: instead(
    '500, 502, 503 and 504 in turn, for 3 requests',
    (wire, fault) => wire.send(statusResponse([500, 502, 503, 504][timesPlayed(fault) % 4] as number)),
    { times: 3 },
  ),

  'redirect-same': redirect('307 to the same path', ''),
  'redirect-other': redirect('307 to another origin', 'https://other.invalid'),

  huge: instead('100 MB', (wire) => wire.flood(new Uint8Array(megabyte).fill(0x20), 100)),
  deep: answer('arrays nested 100,000 deep', 200, '['.repeat(100_000) + ']'.repeat(100_000)),
  'gzip-bomb': instead('100 MB compressed to 100 kB', async (wire) => {
    const { gzipSync } = await import('node:zlib');
    bomb ??= gzipSync(new Uint8Array(100 * megabyte).fill(0x20));
    const headers = { 'content-type': json, 'content-encoding': 'gzip' };
    wire.send({ status: 200, headers, body: bomb });
  }),
  'clock-off': limited<FaultParameters['clock-off']>(
    '429 with Date and Retry-After an hour ahead',
    (now, { byMs = hourMs }) => ({ date: dateAt(now + byMs), 'retry-after': dateAt(now + byMs + 10_000) }),
    { duration: 'byMs' },
  ),
} satisfies Record<RequestFaultKind, unknown>;
