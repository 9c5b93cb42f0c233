import type { Exchange } from '../client/caller.ts';
import { oneLine } from '../client/http-error.ts';
import { runIdPlaces } from '../contract/run.ts';
import { type JsonNode, repeatedMember } from '../json/parse.ts';
import { idText, parseBody, withTexts } from '../json/text.ts';
import type { EndedRun } from './policy.ts';
import { lastSegment, runInPath } from './run-id.ts';

/** The field of a status response that the API does not allow. */
export interface Violation {
  field: string;
  expected: string;
  received: string;
}

interface SeenFields {
  state: string | null;
  failed: number | null;
  blocked: number | null;
  appUrl: string | null;
}

/** A parsed status response. */
export type StatusReading =
  | ({ kind: 'ended' } & EndedRun & { appUrl: string | null })
  | ({ kind: 'running'; known: boolean; retryAfterSeconds: number | null } & SeenFields)
  /** `ended`: the run has ended, but the response does not say how. Otherwise the next read may be better. */
  | ({ kind: 'broken'; ended: boolean; violation: Violation } & SeenFields);

export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value);
  return `the ${typeof value} ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

/** The longest state and the longest address that are accepted; both are longer than any real one. */
const longest = { state: 200, appUrl: 2000 };

/** Returns the address, or null if it is empty or too long to print. */
function readAppUrl(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= longest.appUrl ? value : null;
}

const wholeNumber = /^(-?\d+)(?:\.0+)?$/;

/** Returns the text of a whole number without its fraction of zeros; undefined for any other text, such as `1e-400`. */
const wholeText = (text: string | undefined) => wholeNumber.exec(text ?? '')?.[1];

function countOf(value: unknown, text: string | undefined): number | null {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return null;
  return wholeText(text) === undefined ? null : value;
}

const largest = 'a whole number below 1.8e308';

/**
 * Parses any JSON as a status response. Counts are required only if the run has ended. Then a count that is missing, not a
 * number, negative or fractional makes the response invalid; it is never read as 0.
 * @param texts the original text of the fields, since `1e-400` is 0 in `json`
 */
export function readStatus(json: unknown, texts: ReadonlyMap<string, string>): StatusReading {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const body = (isObject ? json : {}) as Record<string, unknown>;
  const named = typeof body.state === 'string' && body.state !== '' && body.state.length <= longest.state;
  const state = named ? (body.state as string) : null;
  const failed = countOf(body.failed, texts.get('failed'));
  const blocked = countOf(body.blocked, texts.get('blocked'));
  const known = { state, failed, blocked, appUrl: readAppUrl(body.appUrl) };
  const seen = withTexts(known, {
    failed: wholeText(texts.get('failed')),
    blocked: wholeText(texts.get('blocked')),
  });

  if (state === null) {
    const received = describeValue(isObject ? body.state : json);
    const expected = 'a state: in_progress, completed or cancelled';
    return { kind: 'broken', ended: false, violation: { field: 'state', expected, received }, ...seen };
  }
  if (state !== 'completed' && state !== 'cancelled') {
    const after = body.retryAfterSeconds;
    const retryAfterSeconds = typeof after === 'number' && Number.isFinite(after) && after > 0 ? after : null;
    return { kind: 'running', known: state === 'in_progress', retryAfterSeconds, ...seen };
  }
  if (failed === null || blocked === null) {
    const field = failed === null ? 'failed' : 'blocked';
    const value = body[field];
    const text = texts.get(field);
    const received =
      typeof value === 'number' && text !== undefined
        ? `the number ${oneLine(text, 60)}`
        : describeValue(value);
    // JSON.parse reads 1e400 as infinity.
    const expected = value === Number.POSITIVE_INFINITY ? largest : 'a whole number, 0 or more';
    const violation = { field, expected, received };
    return { kind: 'broken', ended: true, violation, ...seen };
  }
  return { kind: 'ended', ...seen, state, failed, blocked };
}

/** Returns the address of the run in a create response, or null. */
export function appUrlOf(body: JsonNode | undefined): string | null {
  const places = [['appUrl'], ['run', 'appUrl'], ['data', 'appUrl']];
  return readAppUrl(places.map((path) => body?.at(path)?.value ?? null).find((url) => url !== null));
}

/** Status codes of success for a response without the status, with only a part of it, or with a change of it. */
const partial: readonly number[] = [205, 206, 226];

/** Returns whether the id in a status is that of the run, either as text or read like a create response (`1.0` is `1`). */
function isOf(runId: string, text: string): boolean {
  return text === runId || idText(text) === runId;
}

/** Returns the kind that an id names, such as `run_` in `run_1`. */
const idPrefix = (id: string | null) => /^[a-z]+[_-]/i.exec(id ?? '')?.[0];

/**
 * Returns the id of another run in a status. A field `runId` names a run. Without one, so does a field `id` that begins like
 * this run's id; any other may be that of the status itself.
 */
function otherRun(body: JsonNode | undefined, runId: string): { field: string; text: string } | undefined {
  const ids = runIdPlaces.flatMap((path) => {
    const text = body?.at(path)?.text;
    return text === undefined || text === 'null' ? [] : [{ field: path.join('.'), text }];
  });
  const named = ids.filter(({ field }) => field.endsWith('runId'));
  const kind = idPrefix(runId);
  const similar = ids.filter(({ text }) => kind !== undefined && idPrefix(idText(text)) === kind);
  return (named.length > 0 ? named : similar).find(({ text }) => !isOf(runId, text));
}

function distrust(
  { status, finalUrl }: Exchange,
  body: JsonNode | undefined,
  runId: string,
): Violation | null {
  const not = (expected: string, received: string): Violation => ({ field: '', expected, received });
  if (partial.includes(status)) return not('a complete status', `one with the status code ${status}`);
  if (finalUrl !== undefined) {
    const { pathname } = new URL(finalUrl);
    if ((runInPath(pathname) ?? lastSegment(pathname)) !== runId) {
      const received = `the one at ${oneLine(pathname, 200)}, after a redirect`;
      return not('the status of this run', received);
    }
  }
  const twice = repeatedMember(body?.members ?? [])?.name;
  if (twice !== undefined)
    return not('an object with each field once', `one with "${oneLine(twice, 60)}" twice`);
  const other = otherRun(body, runId);
  if (other === undefined) return null;
  return not('the status of this run', `that of the ${other.field} ${oneLine(other.text, 80)}`);
}

/** The result is `broken` if the response may not be the whole status of this run. */
export function readResponse(response: Exchange, runId: string): StatusReading {
  const body = parseBody(response.text);
  const violation = distrust(response, body, runId);
  if (violation === null) {
    const texts = new Map(body?.members.map(({ name, value }) => [name, value.text]));
    return readStatus(response.value, texts);
  }
  return { kind: 'broken', ended: false, violation, state: null, failed: null, blocked: null, appUrl: null };
}
