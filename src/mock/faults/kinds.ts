import { parse, stringify } from 'lossless-json';
import type { Wire, WireReply } from './wire.ts';

/** Each kind of fault with what it takes. */
export interface FaultKinds {
  /** Any status instead of the service's answer; the request has no effect. */
  status: {
    status: number;
    /** Text as it is, anything else as JSON; an error body of the service where it is left out. */
    body?: unknown;
    headers?: Readonly<Record<string, string>>;
  };
  /** Status 200 with this text instead of the service's answer; the request has no effect. */
  reply: { text: string; contentType?: string };
  /** The service's JSON response with top-level fields replaced, or fields and headers removed; numbers keep their digits. */
  patch: { merge?: Readonly<Record<string, unknown>>; remove?: readonly string[] };

  /** Every connection is reset, then nobody listens: `forMs` (5000) on the mock's clock. */
  refused: { forMs?: number };
  /** The connection is reset before any reply; the request has no effect. */
  reset: Record<never, never>;
  /** The request has its effect, the headers come, then the connection is reset. */
  'reset-during': Record<never, never>;
  /** The whole reply comes, and the connection is reset right after it. */
  'reset-after': Record<never, never>;
  /** Reset without effect, but only on a connection that carried a request before; on a new one all is well. */
  'reset-reused': Record<never, never>;
  /** The request has its effect, then the connection is reset: the reply is lost. */
  'reset-after-commit': Record<never, never>;
  /** The connection stays open and is neither read nor answered any more; the request has no effect. */
  'black-hole': Record<never, never>;
  /** No answer, ever; the request has no effect. */
  'stall-headers': Record<never, never>;
  /** Headers and the first bytes of the body, then nothing more. */
  'stall-body': Record<never, never>;
  /** The body comes one byte at a time, `everyMs` (1000) of real time apart. */
  drip: { everyMs?: number };
  /** The headers promise the whole body, half of it comes, then the connection ends. */
  truncated: Record<never, never>;
  /** A complete reply with status 200 that has only half of the JSON text. */
  'cut-json': Record<never, never>;
  /** `Content-Length` is larger than the body, after which the connection ends. */
  'length-larger': Record<never, never>;
  /** `Content-Length` is smaller than the body; what is over comes all the same. */
  'length-smaller': Record<never, never>;

  /** Status 200 with a page to log in; the request has no effect. */
  'html-200': Record<never, never>;
  /** Status 502 with a proxy's page; the request has no effect. */
  'html-502': Record<never, never>;
  /** Status 200 without a body; the request has no effect. */
  'empty-200': Record<never, never>;
  /** The service's reply with every field of another type. */
  'wrong-types': Record<never, never>;
  /** The service's reply with a `state` that the interface does not know, where it has one. */
  'unknown-state': Record<never, never>;
  /** The counts of a run in progress are high at first, and lower with every reply. */
  backwards: Record<never, never>;

  /** 409: the first request with this key is still being worked on; without effect. */
  'in-progress': Record<never, never>;
  /** 422: this key came with another body; without effect. */
  'key-reuse': Record<never, never>;
  /** 429 that does not say how long; without effect, as are the next four. */
  limited: Record<never, never>;
  /** 429 with `Retry-After` in seconds (7). */
  'limited-seconds': { seconds?: number };
  /** 429 with `Retry-After` as a date, 10 s ahead. */
  'limited-date': Record<never, never>;
  /** 429 with `Retry-After` as a date an hour ago. */
  'limited-past': Record<never, never>;
  /** 429 with a `Retry-After` of more than three thousand years. */
  'limited-absurd': Record<never, never>;
  /** 500, 502, 503, 504 in turn, without effect; three calls unless `times` says otherwise. */
  burst: Record<never, never>;

  /** 307 to the same path of the same origin; the request has no effect before it is followed. */
  'redirect-same': Record<never, never>;
  /** 307 to another origin, which does not exist. */
  'redirect-other': Record<never, never>;

  /** Status 200 with 100 MB of JSON; the request has no effect. */
  huge: Record<never, never>;
  /** Status 200 with JSON 100,000 arrays deep; the request has no effect. */
  deep: Record<never, never>;
  /** Status 200 with 100 MB, compressed to 100 kB, though nobody asked for that; without effect. */
  'gzip-bomb': Record<never, never>;
  /** 429 with a `Retry-After` date 10 s ahead, by a clock that is an hour (`byMs`) ahead; its `Date` says so. */
  'clock-off': { byMs?: number };
}

/** The name of a kind of fault. */
export type FaultKind = keyof FaultKinds;

type Play<K extends FaultKind> = (fault: FaultKinds[K], wire: Wire) => void | Promise<void>;

const bytes = (text: string) => new TextEncoder().encode(text);
const hourMs = 3_600_000;
const megabyte = 1_000_000;

function half(reply: WireReply): number {
  return Math.floor(reply.body.length / 2);
}

/** What a proxy would call a text that somebody wrote down without a type. */
function textType(text: string): string {
  return text.trimStart().startsWith('<') ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
}

function statusReply({ status, body, headers = {} }: FaultKinds['status']): WireReply {
  const content = body === undefined ? { error: `Fault: status ${status}` } : body;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const type = typeof content === 'string' ? textType(content) : 'application/json';
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { status, headers: { 'content-type': type, ...own }, body: bytes(text) };
}

function okReply(text: string, contentType = 'application/json'): WireReply {
  return { status: 200, headers: { 'content-type': contentType }, body: bytes(text) };
}

function limited(retryAfter?: string, date?: string): WireReply {
  const headers = {
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    ...(date === undefined ? {} : { date }),
  };
  return statusReply({ status: 429, body: { error: 'Too many requests' }, headers });
}

/** The reply with its JSON replaced by what `change` makes of it; numbers keep the digits they had. */
function changed(reply: WireReply, change: (value: unknown) => unknown): WireReply {
  const text = new TextDecoder().decode(reply.body) || '{}';
  return { ...reply, body: bytes(stringify(change(parse(text))) ?? '') };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function patched(reply: WireReply, { merge = {}, remove = [] }: FaultKinds['patch']): WireReply {
  const without = <T>(record: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !remove.includes(name)));
  const { body, ...rest } = changed(reply, (value) => without({ ...(value as object), ...merge }));
  return { ...rest, headers: without(reply.headers), body };
}

function ofAnotherType(value: unknown): unknown {
  if (typeof value === 'string') return 7;
  if (typeof value === 'boolean') return 'yes';
  if (Array.isArray(value) || value === null) return { not: 'a list' };
  return isRecord(value) ? [] : 'seven';
}

function wrongTypes(value: unknown): unknown {
  if (!isRecord(value)) return ofAnotherType(value);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, ofAnotherType(field)]));
}

/** How often a fault was played before, for those that change from call to call. */
const played = new WeakMap<object, number>();
function turn(fault: object): number {
  const before = played.get(fault) ?? 0;
  played.set(fault, before + 1);
  return before;
}

let bomb: Uint8Array | undefined;

/** How each kind plays out: one row a kind. */
export const faultKinds: { readonly [K in FaultKind]: Play<K> } = {
  status: (fault, wire) => wire.send(statusReply(fault)),
  reply: ({ text, contentType }, wire) => wire.send(okReply(text, contentType)),
  patch: async (fault, wire) => wire.send(patched(await wire.reply(), fault)),

  refused: ({ forMs = 5000 }, wire) => wire.refuse(forMs),
  reset: (_fault, wire) => wire.reset(),
  'reset-during': async (_fault, wire) => {
    await wire.sendPart(await wire.reply(), 1);
    wire.reset();
  },
  'reset-after': async (_fault, wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, reply.body.length);
    // The bytes are in the kernel's hands by now; a moment more, and they have arrived.
    setTimeout(() => wire.reset(), 5);
  },
  'reset-reused': async (_fault, wire) => {
    if (wire.reused) wire.reset();
    else wire.send(await wire.reply());
  },
  'reset-after-commit': async (_fault, wire) => {
    await wire.reply();
    wire.reset();
  },
  'black-hole': (_fault, wire) => wire.deafen(),
  'stall-headers': () => undefined,
  'stall-body': async (_fault, wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, Math.min(5, half(reply)));
  },
  drip: async ({ everyMs = 1000 }, wire) => wire.drip(await wire.reply(), everyMs),
  truncated: async (_fault, wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, half(reply));
    wire.close();
  },
  'cut-json': async (_fault, wire) => {
    const reply = await wire.reply();
    wire.send({ ...reply, status: 200, body: reply.body.subarray(0, half(reply)) });
  },
  'length-larger': async (_fault, wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, reply.body.length, reply.body.length + 10);
    wire.close();
  },
  'length-smaller': async (_fault, wire) => {
    const reply = await wire.reply();
    wire.sendAs(reply, half(reply));
  },

  'html-200': (_fault, wire) =>
    wire.send(okReply('<!doctype html><title>Log in</title><form></form>', 'text/html; charset=utf-8')),
  'html-502': (_fault, wire) =>
    wire.send(statusReply({ status: 502, body: '<html><title>502 Bad Gateway</title></html>' })),
  'empty-200': (_fault, wire) => wire.send(okReply('')),
  'wrong-types': async (_fault, wire) => wire.send(changed(await wire.reply(), wrongTypes)),
  'unknown-state': async (_fault, wire) =>
    wire.send(
      changed(await wire.reply(), (value) =>
        isRecord(value) && 'state' in value ? { ...value, state: 'defrosting' } : value,
      ),
    ),
  backwards: async (fault, wire) => {
    const count = Math.max(0, 7 - turn(fault));
    const reply = await wire.reply();
    wire.send(
      changed(reply, (value) =>
        isRecord(value) && value.state === 'in_progress'
          ? { ...value, failed: count, blocked: count }
          : value,
      ),
    );
  },

  'in-progress': (_fault, wire) =>
    wire.send(
      statusReply({
        status: 409,
        body: { error: 'Request in progress', details: 'the first request with this key is being worked on' },
      }),
    ),
  'key-reuse': (_fault, wire) =>
    wire.send(
      statusReply({
        status: 422,
        body: { error: 'Idempotency key reused', details: 'this key came before with another body' },
      }),
    ),
  limited: (_fault, wire) => wire.send(limited()),
  'limited-seconds': ({ seconds = 7 }, wire) => wire.send(limited(String(seconds))),
  'limited-date': (_fault, wire) => wire.send(limited(new Date(wire.now() + 10_000).toUTCString())),
  'limited-past': (_fault, wire) => wire.send(limited(new Date(wire.now() - hourMs).toUTCString())),
  'limited-absurd': (_fault, wire) => wire.send(limited('99999999999')),
  burst: (fault, wire) => wire.send(statusReply({ status: [500, 502, 503, 504][turn(fault) % 4] as number })),

  'redirect-same': (_fault, wire) =>
    wire.send(statusReply({ status: 307, body: '', headers: { location: wire.target } })),
  'redirect-other': (_fault, wire) =>
    wire.send(
      statusReply({ status: 307, body: '', headers: { location: `https://other.invalid${wire.target}` } }),
    ),

  huge: (_fault, wire) => wire.flood(new Uint8Array(megabyte).fill(0x20), 100),
  deep: (_fault, wire) => wire.send(okReply('['.repeat(100_000) + ']'.repeat(100_000))),
  'gzip-bomb': async (_fault, wire) => {
    const { gzipSync } = await import('node:zlib');
    bomb ??= gzipSync(new Uint8Array(100 * megabyte).fill(0x20));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    wire.send({ status: 200, headers, body: bomb });
  },
  'clock-off': ({ byMs = hourMs }, wire) => {
    const at = (ms: number) => new Date(wire.now() + byMs + ms).toUTCString();
    wire.send(limited(at(10_000), at(0)));
  },
};

/** Kinds that last for more than one call where nobody says how long. */
export const usualTimes: Readonly<Partial<Record<FaultKind, number>>> = { burst: 3 };

/** Kinds that mean nothing without being told more: not to be had by their name alone. */
export const kindsWithParts: readonly FaultKind[] = ['status', 'reply', 'patch'];
