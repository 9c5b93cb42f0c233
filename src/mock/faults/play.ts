import { membersOf, objectText } from '../../json/text.ts';
import { jsonResponse, type RawResponse, textResponse } from '../response.ts';
import type { Wire } from './wire.ts';

/** The parts of a kind of fault besides its effect. */
interface More {
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
}

/** A kind of fault: its text, and how it is played on a request, or on a delivery. */
export interface FaultRow<W, P> extends More {
  /** The response that the client, or the receiver of a delivery, gets instead of the usual one. */
  readonly gets: string;
  /** The request still has its effect. */
  readonly commits?: true;
  play(wire: W, fault: P): unknown;
}

/** Responds without the service, so that the request has no effect. */
export function instead<P = unknown>(
  gets: string,
  play: FaultRow<Wire, P>['play'],
  more: More = {},
): FaultRow<Wire, P> {
  return { gets, play, ...more };
}

/** Lets the service handle the request, then spoils its response. */
export function after<P = unknown>(
  gets: string,
  spoil: (wire: Wire, response: RawResponse, fault: P) => unknown,
  more: More = {},
): FaultRow<Wire, P> {
  const play = async (wire: Wire, fault: P) => spoil(wire, await wire.handle(), fault);
  return { gets, commits: true, play, ...more };
}

export const json = 'application/json';
export const html = 'text/html; charset=utf-8';

export const answer = (gets: string, status: number, text: string, type = json) =>
  instead(gets, (wire) => wire.send(textResponse(status, text, { 'content-type': type })));

export function redirect(gets: string, origin: string) {
  return instead(gets, (wire) => wire.send(textResponse(307, '', { location: origin + wire.target })));
}

export function limited<P = unknown>(
  gets: string,
  headers: (now: number, fault: P) => RawResponse['headers'],
  more: More = {},
) {
  return instead<P>(
    gets,
    (wire, fault) => wire.send(jsonResponse(429, { error: 'Too many requests' }, headers(wire.now(), fault))),
    more,
  );
}

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
