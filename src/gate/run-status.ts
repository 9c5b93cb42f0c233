import type { Exchange } from '../client/caller.ts';
import { oneLine } from '../client/http-error.ts';
import { runIdPlaces } from '../contract/run.ts';
import { type JsonNode, repeatedMember } from '../json/parse.ts';
import { idText, parseBody } from '../json/text.ts';
import { ownCopy } from '../own-options.ts';
import type { EndedRun } from './policy.ts';

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

function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value);
  return `the ${typeof value} ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

/** Returns a text that is not longer than any real one; null if it is empty or too long to print. */
const textOf = (value: unknown, longest: number): string | null =>
  typeof value === 'string' && value !== '' && value.length <= longest ? value : null;

const addressOf = (value: unknown) => textOf(value, 2000);

const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;

/**
 * Parses any JSON as a status response. Counts are required only if the run has ended. Then a count that is missing, not a
 * number, negative or fractional makes the response invalid; it is never read as 0.
 */
export function readStatus(json: unknown): StatusReading {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  // A polluted prototype must not supply a state or counts.
  const body = ownCopy(isObject ? json : {}) as Record<string, unknown>;
  const state = textOf(body.state, 200);
  const failed = countOf(body.failed);
  const blocked = countOf(body.blocked);
  const seen = { state, failed, blocked, appUrl: addressOf(body.appUrl) };
  const broken = (field: string, expected: string, value: unknown): StatusReading => {
    const violation = { field, expected, received: describeValue(value) };
    return { kind: 'broken', ended: state !== null, violation, ...seen };
  };
  if (state === null)
    return broken('state', 'a state: in_progress, completed or cancelled', isObject ? body.state : json);
  if (state !== 'completed' && state !== 'cancelled') {
    const after = body.retryAfterSeconds;
    const retryAfterSeconds = typeof after === 'number' && Number.isFinite(after) && after > 0 ? after : null;
    return { kind: 'running', known: state === 'in_progress', retryAfterSeconds, ...seen };
  }
  if (failed === null) return broken('failed', 'a whole number, 0 or more', body.failed);
  if (blocked === null) return broken('blocked', 'a whole number, 0 or more', body.blocked);
  return { kind: 'ended', ...seen, state, failed, blocked };
}

/** Returns the address of the run in a create response, or null. */
export function appUrlOf(body: JsonNode | undefined): string | null {
  const places = [['appUrl'], ['run', 'appUrl'], ['data', 'appUrl']];
  return addressOf(places.map((path) => body?.at(path)?.value ?? null).find((url) => url !== null));
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
  return (named.length > 0 ? named : similar).find(({ text }) => text !== runId && idText(text) !== runId);
}

/** Returns why the response may not be the whole status of this run; null if it is. */
function distrust(status: number, body: JsonNode | undefined, runId: string): Violation | null {
  const not = (expected: string, received: string): Violation => ({ field: '', expected, received });
  if (status === 206) return not('a complete status', 'one with the status code 206');
  const twice = repeatedMember(body?.members ?? [])?.name;
  if (twice !== undefined)
    return not('an object with each field once', `one with "${oneLine(twice, 60)}" twice`);
  const other = otherRun(body, runId);
  if (other === undefined) return null;
  return not('the status of this run', `that of the ${other.field} ${oneLine(other.text, 80)}`);
}

/** The result is `broken` if the response may not be the whole status of this run. */
export function readResponse({ status, text, value }: Exchange, runId: string): StatusReading {
  const violation = distrust(status, parseBody(text), runId);
  if (violation === null) return readStatus(value);
  return { kind: 'broken', ended: false, violation, state: null, failed: null, blocked: null, appUrl: null };
}
