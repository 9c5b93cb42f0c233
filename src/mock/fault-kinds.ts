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
  /** The connection is reset before any reply; the request has no effect. */
  reset: Record<never, never>;
  /** The request has its effect, then the connection is reset: the reply is lost. */
  'reset-after-commit': Record<never, never>;
  /** The headers promise the whole body, half of it comes, then the connection ends. */
  truncated: Record<never, never>;
  /** A complete reply with status 200 that has only half of the JSON text. */
  'cut-json': Record<never, never>;
  /** Status 200 with this text instead of the service's answer; the request has no effect. */
  reply: { text: string; contentType?: string };
  /** No answer, ever; the request has no effect. */
  'stall-headers': Record<never, never>;
  /** Headers and the first bytes of the body, then nothing more. */
  'stall-body': Record<never, never>;
  /** The service's JSON reply with top-level fields replaced or taken out; numbers keep the digits they had. */
  patch: { merge?: Readonly<Record<string, unknown>>; remove?: readonly string[] };
}

export type FaultKind = keyof FaultKinds;

type Play<K extends FaultKind> = (fault: FaultKinds[K], wire: Wire) => void | Promise<void>;

const bytes = (text: string) => new TextEncoder().encode(text);

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

function patched(reply: WireReply, { merge = {}, remove = [] }: FaultKinds['patch']): WireReply {
  const text = new TextDecoder().decode(reply.body) || '{}';
  const merged = Object.entries({ ...(parse(text) as object), ...merge });
  const kept = Object.fromEntries(merged.filter(([name]) => !remove.includes(name)));
  return { ...reply, body: bytes(stringify(kept) ?? '') };
}

/** How each kind plays out: one row a kind. */
export const faultKinds: { readonly [K in FaultKind]: Play<K> } = {
  status: (fault, wire) => wire.send(statusReply(fault)),
  reset: (_fault, wire) => wire.reset(),
  'reset-after-commit': async (_fault, wire) => {
    await wire.reply();
    wire.reset();
  },
  truncated: async (_fault, wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, half(reply));
    wire.close();
  },
  'cut-json': async (_fault, wire) => {
    const reply = await wire.reply();
    wire.send({ ...reply, status: 200, body: reply.body.subarray(0, half(reply)) });
  },
  reply: ({ text, contentType = 'application/json' }, wire) =>
    wire.send({ status: 200, headers: { 'content-type': contentType }, body: bytes(text) }),
  'stall-headers': () => undefined,
  'stall-body': async (_fault, wire) => {
    const reply = await wire.reply();
    await wire.sendPart(reply, Math.min(5, half(reply)));
  },
  patch: async (fault, wire) => wire.send(patched(await wire.reply(), fault)),
};
