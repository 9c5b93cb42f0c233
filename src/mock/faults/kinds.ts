import { eventTypes } from '../data/webhooks.ts';
import { textResponse } from '../response.ts';
import * as play from './play.ts';
import type { DeliveryWire, Wire } from './wire.ts';

/** A kind of fault: its text, and how it is played on a request, or on a delivery. */
interface FaultRow<W> {
  /** The response that the client, or the receiver of a delivery, gets instead of the usual one. */
  readonly gets: string;
  /** The request still has its effect. */
  readonly commits?: boolean;
  /** The parameter that `=duration` sets. */
  readonly duration?: 'forMs' | 'everyMs' | 'byMs';
  /** How many requests it affects by default; default 1. */
  readonly times?: number;
  /** The other parameters, as the docs show them. */
  readonly parameters?: string;
  /** The name alone is not a fault, so `--fault` does not take it. */
  readonly unnamed?: true;
  /** The parameter that is required. */
  readonly requires?: 'status' | 'text';
  /** The only events that a fault of deliveries affects. */
  readonly events?: readonly string[];
  play(wire: W, fault: play.Given): unknown;
}

/** Without the types of the rows, which the types of the library must not contain. */
const table =
  <W>() =>
  <const Kind extends string>(rows: Record<Kind, FaultRow<W>>): Readonly<Record<Kind, unknown>> =>
    rows;

const { after, answer, dateAt, html, instead, json, limited, redirect, withFields } = play;
const hourMs = 3_600_000;
const megabyte = 1_000_000;

/** How often each fault was played, for kinds that change from request to request. */
const played = new WeakMap<object, number>();
function timesPlayed(fault: object): number {
  const count = played.get(fault) ?? 0;
  played.set(fault, count + 1);
  return count;
}

/** 100 MB compressed to 100 kB; created only once, because that is slow. */
let bomb: Uint8Array | undefined;

/** The kinds of faults of requests. */
export const requestKinds = table<Wire>()({
  status: {
    gets: 'this status code, with text unchanged and any other body as JSON',
    unnamed: true,
    requires: 'status',
    parameters: '`status`, `body?`, `headers?`',
    play: (wire, { status = 500, body, headers }) => wire.send(play.statusResponse(status, body, headers)),
  },
  reply: {
    gets: '200 with this text',
    unnamed: true,
    requires: 'text',
    parameters: '`text`, `contentType?`',
    play: (wire, { text = '', contentType = json }) =>
      wire.send(textResponse(200, text, { 'content-type': contentType })),
  },
  patch: {
    ...after('the JSON with fields replaced, or fields and headers removed', play.patch),
    unnamed: true,
    parameters: '`merge?`, `remove?`',
  },

  refused: {
    gets: 'resets of all connections, then 5 s of refused ones',
    duration: 'forMs',
    play: (wire, { forMs = 5000 }) => wire.refuse(forMs),
  },
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
    wire.sendPart(response, Math.min(5, play.half(response))),
  ),
  drip: {
    ...after('one byte of the body per second of real time', (wire, response, { everyMs = 1000 }) =>
      wire.drip(response, everyMs),
    ),
    duration: 'everyMs',
  },
  truncated: after('half of the body, then a closed connection', async (wire, response) => {
    await wire.sendPart(response, play.half(response));
    wire.close();
  }),
  'cut-json': after('a complete 200 with half of the JSON text', (wire, response) =>
    wire.send({ ...response, status: 200, body: response.body.subarray(0, play.half(response)) }),
  ),
  'length-larger': after('a Content-Length 10 bytes too large', async (wire, response) => {
    await wire.sendPart(response, response.body.length, response.body.length + 10);
    wire.close();
  }),
  'length-smaller': after('a Content-Length of half the body', (wire, response) =>
    wire.send(response, play.half(response)),
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
    wire.send(play.changed(response, play.fieldsOfOtherTypes)),
  ),
  'unknown-state': after('the run state "defrosting"', (wire, response) => {
    const changed = withFields(response, (fields) => {
      if (fields.has('state')) fields.set('state', '"defrosting"');
    });
    wire.send(changed);
  }),
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
  'limited-seconds': {
    ...limited('429 with Retry-After: 7', (_now, { seconds = 7 }) => ({ 'retry-after': String(seconds) })),
    parameters: '`seconds?`',
  },
  'limited-date': limited('429 with a date 10 s ahead in Retry-After', (now) => ({
    'retry-after': dateAt(now + 10_000),
  })),
  'limited-past': limited('429 with a date an hour ago in Retry-After', (now) => ({
    'retry-after': dateAt(now - hourMs),
  })),
  'limited-absurd': limited('429 with Retry-After: 99999999999', () => ({ 'retry-after': '99999999999' })),
  burst: {
    gets: '500, 502, 503 and 504 in turn, for 3 requests',
    times: 3,
    play: (wire, fault) =>
      wire.send(play.statusResponse([500, 502, 503, 504][timesPlayed(fault) % 4] as number)),
  },

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
  'clock-off': {
    ...limited('429 with Date and Retry-After an hour ahead', (now, { byMs = hourMs }) => ({
      date: dateAt(now + byMs),
      'retry-after': dateAt(now + byMs + 10_000),
    })),
    duration: 'byMs',
  },
});

/** Prepares a delivery for a time on the mock's clock, by default 5 s, then sends it. */
const sent = (
  gets: string,
  prepare: (wire: DeliveryWire, ms: number) => unknown,
): FaultRow<DeliveryWire> => ({
  gets,
  duration: 'byMs',
  play: async (wire, { byMs = 5000 }) => {
    await prepare(wire, byMs);
    await wire.send();
  },
});

/** The kinds of faults of webhook deliveries. */
export const deliveryKinds = table<DeliveryWire>()({
  drop: { gets: 'nothing, and the mock records a failure', play: (wire) => wire.lose() },
  duplicate: {
    gets: 'the same request twice',
    play: async (wire) => {
      await wire.send();
      await wire.send();
    },
  },
  delay: sent('the delivery 5 s late, signed before the delay', (wire, ms) => wire.sleep(ms)),
  reorder: sent('the delivery after the next one, or after 5 s', (wire, ms) => wire.overtaken(ms)),
  forge: { gets: 'the delivery with a wrong signature', play: (wire) => wire.sendForged() },
  early: {
    ...sent('the end of a run 5 s before its status shows it', (wire, ms) => wire.holdStatus(ms)),
    events: ['run.completed', 'run.cancelled'],
  },
});

/** The name of a kind of fault of requests. */
export type RequestFaultKind = keyof typeof requestKinds;
/** The name of a kind of fault of webhook deliveries. */
export type DeliveryFaultKind = keyof typeof deliveryKinds;
/** The name of a kind of fault. */
export type FaultKind = RequestFaultKind | DeliveryFaultKind;

/** All kinds, first those of requests. */
export const faultKinds = Object.keys({ ...requestKinds, ...deliveryKinds }) as FaultKind[];

export function isDeliveryKind(kind: string): kind is DeliveryFaultKind {
  return Object.hasOwn(deliveryKinds, kind);
}

export function rowOf(kind: FaultKind) {
  return (isDeliveryKind(kind) ? deliveryKinds[kind] : requestKinds[kind]) as FaultRow<Wire | DeliveryWire>;
}

/** Returns the events whose deliveries a kind affects. */
export function eventsOf(kind: DeliveryFaultKind): readonly string[] {
  return rowOf(kind).events ?? eventTypes.map(({ type }) => type);
}
