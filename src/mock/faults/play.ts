import { membersOf, objectText } from '../../json/text.ts';
import { jsonResponse, type RawResponse, textResponse } from '../response.ts';
import type { Wire } from './wire.ts';

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

/** A fault may have the parameters of any kind. */
export type Given = Partial<
  { kind: string } & FaultParameters['status'] &
    FaultParameters['reply'] &
    FaultParameters['patch'] &
    FaultParameters['refused'] &
    FaultParameters['drip'] &
    FaultParameters['limited-seconds'] &
    FaultParameters['delay']
>;

/** Responds without the service, so that the request has no effect. */
export const instead = (gets: string, play: (wire: Wire, fault: Given) => unknown) => ({ gets, play });

/** Lets the service handle the request, then spoils its response. */
export const after = (gets: string, spoil: (wire: Wire, response: RawResponse, fault: Given) => unknown) => ({
  gets,
  commits: true,
  play: async (wire: Wire, fault: Given) => spoil(wire, await wire.handle(), fault),
});

export const json = 'application/json';
export const html = 'text/html; charset=utf-8';

export const answer = (gets: string, status: number, text: string, type = json) =>
  instead(gets, (wire) => wire.send(textResponse(status, text, { 'content-type': type })));

export const redirect = (gets: string, origin: string) =>
  instead(gets, (wire) => wire.send(textResponse(307, '', { location: origin + wire.target })));

export const limited = (gets: string, headers: (now: number, fault: Given) => RawResponse['headers']) =>
  instead(gets, (wire, fault) =>
    wire.send(jsonResponse(429, { error: 'Too many requests' }, headers(wire.now(), fault))),
  );

export const dateAt = (ms: number) => new Date(ms).toUTCString();

/** An error of the service, unless there is a body: text is sent unchanged, anything else as JSON. */
export function statusResponse(
  status: number,
  body: unknown = { error: `Fault: status ${status}` },
  headers: RawResponse['headers'] = {},
): RawResponse {
  const given = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  if (typeof body !== 'string') return jsonResponse(status, body, given);
  // As a proxy would guess.
  const type = body.trimStart().startsWith('<') ? html : 'text/plain; charset=utf-8';
  return textResponse(status, body, { 'content-type': type, ...given });
}

export const half = ({ body }: RawResponse) => Math.floor(body.length / 2);

/** Changes the JSON of a response as text, so that numbers keep their digits. */
export function changed(response: RawResponse, change: (text: string) => string): RawResponse {
  const text = Buffer.from(response.body).toString('utf8') || '{}';
  return { ...response, body: Buffer.from(change(text)) };
}

/** Changes the fields of an object, which are JSON text. Any other JSON stays as it is. */
export function withFields(
  response: RawResponse,
  change: (fields: Map<string, string>) => void,
): RawResponse {
  return changed(response, (text) => {
    if (!text.startsWith('{')) return text;
    const fields = new Map(membersOf(text));
    change(fields);
    return objectText(fields);
  });
}

export function patch(wire: Wire, response: RawResponse, { merge = {}, remove = [] }: Given): void {
  const patched = withFields(response, (fields) => {
    for (const [name, value] of Object.entries(merge)) fields.set(name, JSON.stringify(value));
    for (const name of remove) fields.delete(name);
  });
  const headers = Object.entries(response.headers).filter(([name]) => !remove.includes(name));
  wire.send({ ...patched, headers: Object.fromEntries(headers) });
}

function ofAnotherType(text: string): string {
  if (text.startsWith('"')) return '7';
  if (/^[tf]/.test(text)) return '"yes"';
  if (/^[[n]/.test(text)) return '{"not":"a list"}';
  return text.startsWith('{') ? '[]' : '"seven"';
}

export function fieldsOfOtherTypes(text: string): string {
  if (!text.startsWith('{')) return ofAnotherType(text);
  return objectText(membersOf(text).map(([name, value]) => [name, ofAnotherType(value)]));
}
