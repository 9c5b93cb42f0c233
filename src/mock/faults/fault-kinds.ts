import { membersOf, objectText } from '../../json/text.ts';
import { jsonResponse, type RawResponse, textResponse } from '../response.ts';
import type { DeliveryFaultKind, DeliveryFaultKinds } from './delivery-kinds.ts';
import type { Wire } from './wire.ts';

/** The kinds of faults with their parameters. */
export interface FaultKinds extends DeliveryFaultKinds {
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
  reset: Record<never, never>;
  'reset-during': Record<never, never>;
  'reset-after': Record<never, never>;
  'reset-reused': Record<never, never>;
  'reset-after-commit': Record<never, never>;
  'black-hole': Record<never, never>;
  'stall-headers': Record<never, never>;
  'stall-body': Record<never, never>;
  /** Milliseconds of real time between two bytes; default 1000. */
  drip: { everyMs?: number };
  truncated: Record<never, never>;
  'cut-json': Record<never, never>;
  'length-larger': Record<never, never>;
  'length-smaller': Record<never, never>;
  'html-200': Record<never, never>;
  'html-502': Record<never, never>;
  'empty-200': Record<never, never>;
  'wrong-types': Record<never, never>;
  'unknown-state': Record<never, never>;
  backwards: Record<never, never>;
  'in-progress': Record<never, never>;
  'key-reuse': Record<never, never>;
  limited: Record<never, never>;
  'limited-seconds': { seconds?: number };
  'limited-date': Record<never, never>;
  'limited-past': Record<never, never>;
  'limited-absurd': Record<never, never>;
  burst: Record<never, never>;
  'redirect-same': Record<never, never>;
  'redirect-other': Record<never, never>;
  huge: Record<never, never>;
  deep: Record<never, never>;
  'gzip-bomb': Record<never, never>;
  'clock-off': { byMs?: number };
}

/** The name of a kind of fault. */
export type FaultKind = keyof FaultKinds;
export type RequestFaultKind = Exclude<FaultKind, DeliveryFaultKind>;

const hourMs = 3_600_000;
const megabyte = 1_000_000;
const html = 'text/html; charset=utf-8';

/** Guesses the content type of a text, as a proxy would. */
function textType(text: string): string {
  return text.trimStart().startsWith('<') ? html : 'text/plain; charset=utf-8';
}

function statusResponse({ status, body, headers = {} }: FaultKinds['status']): RawResponse {
  const lowerCased = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  if (typeof body === 'string')
    return textResponse(status, body, { 'content-type': textType(body), ...lowerCased });
  return jsonResponse(status, body === undefined ? { error: `Fault: status ${status}` } : body, lowerCased);
}

function limited(headers: Readonly<Record<string, string>> = {}): RawResponse {
  return jsonResponse(429, { error: 'Too many requests' }, headers);
}

const dateAt = (ms: number) => new Date(ms).toUTCString();

function half({ body }: RawResponse): number {
  return Math.floor(body.length / 2);
}

/** Lets the service handle the request, then sends its response with changed JSON; numbers keep their digits. */
async function sendChanged(wire: Wire, change: (json: string) => string): Promise<void> {
  const response = await wire.handle();
  const json = Buffer.from(response.body).toString('utf8') || '{}';
  wire.send({ ...response, body: Buffer.from(change(json)) });
}

/** Changes the fields of an object, which are JSON text. Any other JSON stays as it is. */
function sendWithFields(wire: Wire, change: (fields: Map<string, string>) => void): Promise<void> {
  return sendChanged(wire, (json) => {
    if (!json.startsWith('{')) return json;
    const fields = new Map(membersOf(json));
    change(fields);
    return objectText(fields);
  });
}

function ofAnotherType(json: string): string {
  if (json.startsWith('"')) return '7';
  if (/^[tf]/.test(json)) return '"yes"';
  if (/^[[n]/.test(json)) return '{"not":"a list"}';
  return json.startsWith('{') ? '[]' : '"seven"';
}

const responds = (status: number, text: string, headers: RawResponse['headers']) => (wire: Wire) =>
  wire.send(textResponse(status, text, headers));
const fails = (status: number, error: string, details: string) => (wire: Wire) =>
  wire.send(jsonResponse(status, { error, details }));

/** How often each fault was played, for kinds that change from request to request. */
const played = new WeakMap<object, number>();
function timesPlayed(fault: object): number {
  const count = played.get(fault) ?? 0;
  played.set(fault, count + 1);
  return count;
}

/** 100 MB compressed to 100 kB; created only once, because that is slow. */
let bomb: Uint8Array | undefined;

/** Plays each kind of fault on a request, which has its effect when `wire.handle` is called. */
export const faultKinds: {
  readonly [K in RequestFaultKind]: (wire: Wire, fault: FaultKinds[K]) => unknown;
} = {
  status: (wire, fault) => wire.send(statusResponse(fault)),
  reply: (wire, { text, contentType = 'application/json' }) =>
    wire.send(textResponse(200, text, { 'content-type': contentType })),
  patch: async (wire, { merge = {}, remove = [] }) => {
    const send = (response: RawResponse) => {
      const headers = Object.entries(response.headers).filter(([name]) => !remove.includes(name));
      wire.send({ ...response, headers: Object.fromEntries(headers) });
    };
    await sendWithFields({ ...wire, send }, (fields) => {
      for (const [name, value] of Object.entries(merge)) fields.set(name, JSON.stringify(value));
      for (const name of remove) fields.delete(name);
    });
  },

  refused: (wire, { forMs = 5000 }) => wire.refuse(forMs),
  reset: (wire) => wire.reset(),
  'reset-during': async (wire) => {
    await wire.sendPart(await wire.handle(), 1);
    wire.reset();
  },
  'reset-after': async (wire) => {
    const response = await wire.handle();
    await wire.sendPart(response, response.body.length);
    // The kernel has the bytes by now; after a moment they have arrived.
    setTimeout(() => wire.reset(), 5);
  },
  'reset-reused': async (wire) => {
    if (wire.reused) wire.reset();
    else wire.send(await wire.handle());
  },
  'reset-after-commit': async (wire) => {
    await wire.handle();
    wire.reset();
  },
  'black-hole': (wire) => wire.ignore(),
  'stall-headers': () => undefined,
  'stall-body': async (wire) => {
    const response = await wire.handle();
    await wire.sendPart(response, Math.min(5, half(response)));
  },
  drip: async (wire, { everyMs = 1000 }) => wire.drip(await wire.handle(), everyMs),
  truncated: async (wire) => {
    const response = await wire.handle();
    await wire.sendPart(response, half(response));
    wire.close();
  },
  'cut-json': async (wire) => {
    const response = await wire.handle();
    wire.send({ ...response, status: 200, body: response.body.subarray(0, half(response)) });
  },
  'length-larger': async (wire) => {
    const response = await wire.handle();
    await wire.sendPart(response, response.body.length, response.body.length + 10);
    wire.close();
  },
  'length-smaller': async (wire) => {
    const response = await wire.handle();
    wire.send(response, half(response));
  },

  'html-200': responds(200, '<!doctype html><title>Log in</title><form></form>', { 'content-type': html }),
  'html-502': responds(502, '<html><title>502 Bad Gateway</title></html>', { 'content-type': html }),
  'empty-200': responds(200, '', { 'content-type': 'application/json' }),
  'wrong-types': (wire) =>
    sendChanged(wire, (json) => {
      if (!json.startsWith('{')) return ofAnotherType(json);
      return objectText(membersOf(json).map(([name, text]) => [name, ofAnotherType(text)]));
    }),
  'unknown-state': (wire) =>
    sendWithFields(wire, (fields) => {
      if (fields.has('state')) fields.set('state', '"defrosting"');
    }),
  backwards: (wire, fault) => {
    const count = String(Math.max(0, 7 - timesPlayed(fault)));
    return sendWithFields(wire, (fields) => {
      if (fields.get('state') === '"in_progress"') fields.set('failed', count).set('blocked', count);
    });
  },

  'in-progress': fails(409, 'Request in progress', 'the first request with this key is still in progress'),
  'key-reuse': fails(422, 'Idempotency key reused', 'this key was used with another body'),
  limited: (wire) => wire.send(limited()),
  'limited-seconds': (wire, { seconds = 7 }) => wire.send(limited({ 'retry-after': String(seconds) })),
  'limited-date': (wire) => wire.send(limited({ 'retry-after': dateAt(wire.now() + 10_000) })),
  'limited-past': (wire) => wire.send(limited({ 'retry-after': dateAt(wire.now() - hourMs) })),
  'limited-absurd': (wire) => wire.send(limited({ 'retry-after': '99999999999' })),
  burst: (wire, fault) => {
    const status = [500, 502, 503, 504][timesPlayed(fault) % 4] as number;
    wire.send(statusResponse({ status }));
  },

  'redirect-same': (wire) => wire.send(textResponse(307, '', { location: wire.target })),
  'redirect-other': (wire) =>
    wire.send(textResponse(307, '', { location: `https://other.invalid${wire.target}` })),

  huge: (wire) => wire.flood(new Uint8Array(megabyte).fill(0x20), 100),
  deep: (wire) =>
    wire.send(
      textResponse(200, '['.repeat(100_000) + ']'.repeat(100_000), { 'content-type': 'application/json' }),
    ),
  'gzip-bomb': async (wire) => {
    const { gzipSync } = await import('node:zlib');
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    bomb ??= gzipSync(new Uint8Array(100 * megabyte).fill(0x20));
    wire.send({ status: 200, headers, body: bomb });
  },
  'clock-off': (wire, { byMs = hourMs }) => {
    const now = wire.now() + byMs;
    wire.send(limited({ date: dateAt(now), 'retry-after': dateAt(now + 10_000) }));
  },
};

/** Kinds that affect more than one request by default. */
export const defaultTimes: Readonly<Partial<Record<FaultKind, number>>> = { burst: 3 };

export const durationParameters: Readonly<Partial<Record<FaultKind, 'forMs' | 'everyMs' | 'byMs'>>> = {
  refused: 'forMs',
  drip: 'everyMs',
  'clock-off': 'byMs',
  delay: 'byMs',
  reorder: 'byMs',
  early: 'byMs',
};

/** Kinds that need parameters, so that their name alone is not a fault. */
export const kindsWithParameters: readonly FaultKind[] = ['status', 'reply', 'patch'];
