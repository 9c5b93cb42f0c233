import { parse, stringify } from 'lossless-json';
import { jsonReply, type Reply, textReply } from '../reply.ts';
import type { Wire } from './wire.ts';

/** What some kinds of fault take beside their name. */
interface FaultParts {
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
  /** Milliseconds of real time between two bytes; 1000 where it is left out. */
  drip: { everyMs?: number };
  'limited-seconds': { seconds?: number };
  'clock-off': { byMs?: number };
}

const hourMs = 3_600_000;
const megabyte = 1_000_000;
const html = 'text/html; charset=utf-8';

/** What a proxy would call a text that somebody wrote down without a type. */
function textType(text: string): string {
  return text.trimStart().startsWith('<') ? html : 'text/plain; charset=utf-8';
}

function statusReply({ status, body, headers = {} }: FaultParts['status']): Reply {
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
export const faultKinds = {
  status: (wire: Wire, fault: FaultParts['status']) => wire.send(statusReply(fault)),
  reply: (wire: Wire, { text, contentType = 'application/json' }: FaultParts['reply']) =>
    wire.send(textReply(200, text, { 'content-type': contentType })),
  patch: async (wire: Wire, { merge = {}, remove = [] }: FaultParts['patch']) => {
    const without = <T>(record: Readonly<Record<string, T>>) =>
      Object.fromEntries(Object.entries(record).filter(([name]) => !remove.includes(name)));
    const send = (reply: Reply) => wire.send({ ...reply, headers: without(reply.headers) });
    await sendChanged({ ...wire, send }, (value) => without({ ...(value as object), ...merge }));
  },

  refused: (wire: Wire, { forMs = 5000 }: FaultParts['refused']) => wire.refuse(forMs),
  reset: (wire: Wire) => wire.reset(),
  'reset-during': async (wire: Wire) => {
    await wire.sendPart(await wire.reply(), 1);
    wire.reset();
  },
  'reset-after': async (wire: Wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, reply.body.length);
    // The bytes are in the kernel's hands by now; a moment more, and they have arrived.
    setTimeout(() => wire.reset(), 5);
  },
  'reset-reused': async (wire: Wire) => {
    if (wire.reused) wire.reset();
    else wire.send(await wire.reply());
  },
  'reset-after-commit': async (wire: Wire) => {
    await wire.reply();
    wire.reset();
  },
  'black-hole': (wire: Wire) => wire.deafen(),
  'stall-headers': () => undefined,
  'stall-body': async (wire: Wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, Math.min(5, half(reply)));
  },
  drip: async (wire: Wire, { everyMs = 1000 }: FaultParts['drip']) => wire.drip(await wire.reply(), everyMs),
  truncated: async (wire: Wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, half(reply));
    wire.close();
  },
  'cut-json': async (wire: Wire) => {
    const reply = await wire.reply();
    wire.send({ ...reply, status: 200, body: reply.body.subarray(0, half(reply)) });
  },
  'length-larger': async (wire: Wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, reply.body.length, reply.body.length + 10);
    wire.close();
  },
  'length-smaller': async (wire: Wire) => {
    const reply = await wire.reply();
    wire.send(reply, half(reply));
  },

  'html-200': (wire: Wire) =>
    wire.send(textReply(200, '<!doctype html><title>Log in</title><form></form>', { 'content-type': html })),
  'html-502': (wire: Wire) =>
    wire.send(textReply(502, '<html><title>502 Bad Gateway</title></html>', { 'content-type': html })),
  'empty-200': (wire: Wire) => wire.send(textReply(200, '', { 'content-type': 'application/json' })),
  'wrong-types': (wire: Wire) =>
    sendChanged(wire, (value) =>
      isRecord(value)
        ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, ofAnotherType(field)]))
        : ofAnotherType(value),
    ),
  'unknown-state': (wire: Wire) =>
    sendChanged(wire, (value) =>
      isRecord(value) && 'state' in value ? { ...value, state: 'defrosting' } : value,
    ),
  backwards: (wire: Wire, fault: object) => {
    const count = Math.max(0, 7 - turn(fault));
    return sendChanged(wire, (value) =>
      isRecord(value) && value.state === 'in_progress' ? { ...value, failed: count, blocked: count } : value,
    );
  },

  'in-progress': (wire: Wire) => {
    const details = 'the first request with this key is being worked on';
    wire.send(jsonReply(409, { error: 'Request in progress', details }));
  },
  'key-reuse': (wire: Wire) => {
    const details = 'this key came before with another body';
    wire.send(jsonReply(422, { error: 'Idempotency key reused', details }));
  },
  limited: (wire: Wire) => wire.send(limited()),
  'limited-seconds': (wire: Wire, { seconds = 7 }: FaultParts['limited-seconds']) =>
    wire.send(limited({ 'retry-after': String(seconds) })),
  'limited-date': (wire: Wire) => wire.send(limited({ 'retry-after': dateAt(wire.now() + 10_000) })),
  'limited-past': (wire: Wire) => wire.send(limited({ 'retry-after': dateAt(wire.now() - hourMs) })),
  'limited-absurd': (wire: Wire) => wire.send(limited({ 'retry-after': '99999999999' })),
  burst: (wire: Wire, fault: object) => {
    const status = [500, 502, 503, 504][turn(fault) % 4] as number;
    wire.send(statusReply({ status }));
  },

  'redirect-same': (wire: Wire) => wire.send(textReply(307, '', { location: wire.target })),
  'redirect-other': (wire: Wire) =>
    wire.send(textReply(307, '', { location: `https://other.invalid${wire.target}` })),

  huge: (wire: Wire) => wire.flood(new Uint8Array(megabyte).fill(0x20), 100),
  deep: (wire: Wire) =>
    wire.send(
      textReply(200, '['.repeat(100_000) + ']'.repeat(100_000), { 'content-type': 'application/json' }),
    ),
  'gzip-bomb': async (wire: Wire) => {
    const { gzipSync } = await import('node:zlib');
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    bomb ??= gzipSync(new Uint8Array(100 * megabyte).fill(0x20));
    wire.send({ status: 200, headers, body: bomb });
  },
  'clock-off': (wire: Wire, { byMs = hourMs }: FaultParts['clock-off']) => {
    const now = wire.now() + byMs;
    wire.send(limited({ date: dateAt(now), 'retry-after': dateAt(now + 10_000) }));
  },
};

/** The name of a kind of fault. */
export type FaultKind = keyof typeof faultKinds;

/** Each kind of fault with what it takes. */
export type FaultKinds = {
  [K in FaultKind]: K extends keyof FaultParts ? FaultParts[K] : Record<never, never>;
};

/** Kinds that last for more than one call where nobody says how long. */
export const usualTimes: Readonly<Partial<Record<FaultKind, number>>> = { burst: 3 };

/** Kinds that mean nothing without being told more: not to be had by their name alone. */
export const kindsWithParts: readonly FaultKind[] = ['status', 'reply', 'patch'];
