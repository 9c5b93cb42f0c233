import { parse, stringify } from 'lossless-json';
import { jsonReply, type Reply, textReply } from '../reply.ts';
import type { Wire } from './wire.ts';

/** Each kind of fault with what it takes; docs/mock.md says what each does. */
export interface FaultKinds {
  status: {
    status: number;
    /** Text as it is, anything else as JSON; an error body of the service where it is left out. */
    body?: unknown;
    headers?: Readonly<Record<string, string>>;
  };
  reply: { text: string; contentType?: string };
  /** Top-level fields to replace, and fields and headers to remove. */
  patch: { merge?: Readonly<Record<string, unknown>>; remove?: readonly string[] };
  /** How long nobody listens, on the mock's clock; 5000 where it is left out. */
  refused: { forMs?: number };
  reset: Record<never, never>;
  'reset-during': Record<never, never>;
  'reset-after': Record<never, never>;
  'reset-reused': Record<never, never>;
  'reset-after-commit': Record<never, never>;
  'black-hole': Record<never, never>;
  'stall-headers': Record<never, never>;
  'stall-body': Record<never, never>;
  /** Milliseconds of real time between two bytes; 1000 where it is left out. */
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

const hourMs = 3_600_000;
const megabyte = 1_000_000;
const html = 'text/html; charset=utf-8';

/** What a proxy would call a text that somebody wrote down without a type. */
function textType(text: string): string {
  return text.trimStart().startsWith('<') ? html : 'text/plain; charset=utf-8';
}

function statusReply({ status, body, headers = {} }: FaultKinds['status']): Reply {
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  if (typeof body === 'string') return textReply(status, body, { 'content-type': textType(body), ...own });
  return jsonReply(status, body === undefined ? { error: `Fault: status ${status}` } : body, own);
}

function limited(headers: Readonly<Record<string, string>> = {}): Reply {
  return jsonReply(429, { error: 'Too many requests' }, headers);
}

const dateAt = (ms: number) => new Date(ms).toUTCString();

function half({ body }: Reply): number {
  return Math.floor(body.length / 2);
}

/** Lets the request have its effect, and sends its reply with other JSON; numbers keep the digits they had. */
async function sendChanged(wire: Wire, change: (value: unknown) => unknown): Promise<void> {
  const reply = await wire.reply();
  const value = change(parse(Buffer.from(reply.body).toString('utf8') || '{}'));
  wire.send({ ...reply, body: Buffer.from(stringify(value) ?? '') });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function ofAnotherType(value: unknown): unknown {
  if (typeof value === 'string') return 7;
  if (typeof value === 'boolean') return 'yes';
  if (Array.isArray(value) || value === null) return { not: 'a list' };
  return isRecord(value) ? [] : 'seven';
}

/** How often a fault was played before, for those that change from call to call. */
const played = new WeakMap<object, number>();
function turn(fault: object): number {
  const before = played.get(fault) ?? 0;
  played.set(fault, before + 1);
  return before;
}

/** 100 MB in 100 kB: made once, since that takes a while. */
let bomb: Uint8Array | undefined;

/** How each kind plays out. A request has its effect where the service is asked for its reply. */
export const faultKinds: { readonly [K in FaultKind]: (wire: Wire, fault: FaultKinds[K]) => unknown } = {
  status: (wire, fault) => wire.send(statusReply(fault)),
  reply: (wire, { text, contentType = 'application/json' }) =>
    wire.send(textReply(200, text, { 'content-type': contentType })),
  patch: async (wire, { merge = {}, remove = [] }) => {
    const without = <T>(record: Readonly<Record<string, T>>) =>
      Object.fromEntries(Object.entries(record).filter(([name]) => !remove.includes(name)));
    const send = (reply: Reply) => wire.send({ ...reply, headers: without(reply.headers) });
    await sendChanged({ ...wire, send }, (value) => without({ ...(value as object), ...merge }));
  },

  refused: (wire, { forMs = 5000 }) => wire.refuse(forMs),
  reset: (wire) => wire.reset(),
  'reset-during': async (wire) => {
    await wire.sendPart(await wire.reply(), 1);
    wire.reset();
  },
  'reset-after': async (wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, reply.body.length);
    // The bytes are in the kernel's hands by now; a moment more, and they have arrived.
    setTimeout(() => wire.reset(), 5);
  },
  'reset-reused': async (wire) => {
    if (wire.reused) wire.reset();
    else wire.send(await wire.reply());
  },
  'reset-after-commit': async (wire) => {
    await wire.reply();
    wire.reset();
  },
  'black-hole': (wire) => wire.deafen(),
  'stall-headers': () => undefined,
  'stall-body': async (wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, Math.min(5, half(reply)));
  },
  drip: async (wire, { everyMs = 1000 }) => wire.drip(await wire.reply(), everyMs),
  truncated: async (wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, half(reply));
    wire.close();
  },
  'cut-json': async (wire) => {
    const reply = await wire.reply();
    wire.send({ ...reply, status: 200, body: reply.body.subarray(0, half(reply)) });
  },
  'length-larger': async (wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, reply.body.length, reply.body.length + 10);
    wire.close();
  },
  'length-smaller': async (wire) => {
    const reply = await wire.reply();
    wire.send(reply, half(reply));
  },

  'html-200': (wire) =>
    wire.send(textReply(200, '<!doctype html><title>Log in</title><form></form>', { 'content-type': html })),
  'html-502': (wire) =>
    wire.send(textReply(502, '<html><title>502 Bad Gateway</title></html>', { 'content-type': html })),
  'empty-200': (wire) => wire.send(textReply(200, '', { 'content-type': 'application/json' })),
  'wrong-types': (wire) =>
    sendChanged(wire, (value) =>
      isRecord(value)
        ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, ofAnotherType(field)]))
        : ofAnotherType(value),
    ),
  'unknown-state': (wire) =>
    sendChanged(wire, (value) =>
      isRecord(value) && 'state' in value ? { ...value, state: 'defrosting' } : value,
    ),
  backwards: (wire, fault) => {
    const count = Math.max(0, 7 - turn(fault));
    return sendChanged(wire, (value) =>
      isRecord(value) && value.state === 'in_progress' ? { ...value, failed: count, blocked: count } : value,
    );
  },

  'in-progress': (wire) => {
    const details = 'the first request with this key is being worked on';
    wire.send(jsonReply(409, { error: 'Request in progress', details }));
  },
  'key-reuse': (wire) => {
    const details = 'this key came before with another body';
    wire.send(jsonReply(422, { error: 'Idempotency key reused', details }));
  },
  limited: (wire) => wire.send(limited()),
  'limited-seconds': (wire, { seconds = 7 }) => wire.send(limited({ 'retry-after': String(seconds) })),
  'limited-date': (wire) => wire.send(limited({ 'retry-after': dateAt(wire.now() + 10_000) })),
  'limited-past': (wire) => wire.send(limited({ 'retry-after': dateAt(wire.now() - hourMs) })),
  'limited-absurd': (wire) => wire.send(limited({ 'retry-after': '99999999999' })),
  burst: (wire, fault) => {
    const status = [500, 502, 503, 504][turn(fault) % 4] as number;
    wire.send(statusReply({ status }));
  },

  'redirect-same': (wire) => wire.send(textReply(307, '', { location: wire.target })),
  'redirect-other': (wire) =>
    wire.send(textReply(307, '', { location: `https://other.invalid${wire.target}` })),

  huge: (wire) => wire.flood(new Uint8Array(megabyte).fill(0x20), 100),
  deep: (wire) =>
    wire.send(
      textReply(200, '['.repeat(100_000) + ']'.repeat(100_000), { 'content-type': 'application/json' }),
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

/** Kinds that last for more than one call where nobody says how long. */
export const usualTimes: Readonly<Partial<Record<FaultKind, number>>> = { burst: 3 };

/** Kinds that mean nothing without being told more: not to be had by their name alone. */
export const kindsWithParts: readonly FaultKind[] = ['status', 'reply', 'patch'];
