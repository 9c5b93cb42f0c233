import type { Exchange } from '../client/caller.ts';
import { oneLine } from '../client/http-error.ts';
import { idText, membersOf, repeatedName } from '../client/json-text.ts';
import { withTexts } from '../exact-fields.ts';
import { ownCopy } from '../own-options.ts';
import type { Redact } from '../redact.ts';
import { at, lastSegment, runInPath } from './run-id.ts';
import type { EndedRun } from './verdict.ts';

/** The field of a status response that breaks the contract. */
export interface Violation {
  field: string;
  expected: string;
  received: string;
}

interface Seen {
  state: string | null;
  failed: number | null;
  blocked: number | null;
  appUrl: string | null;
}

/** A parsed status response (interface, sections 2.6 and 3). */
export type Reading =
  | ({ kind: 'ended' } & EndedRun & { appUrl: string | null })
  | ({ kind: 'running'; known: boolean; retryAfterSeconds: number | null } & Seen)
  /** `ended`: the run has ended, but the response does not say how. Otherwise the next read may be better. */
  | ({ kind: 'broken'; ended: boolean; violation: Violation } & Seen);

/** Describes a value for a message, in one line. */
export function describe(value: unknown, redact: Redact): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  const text = redact(JSON.stringify(value));
  return `the ${typeof value} ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

/** The longest state and the longest address that are accepted; both are longer than any real one. */
const longest = { state: 200, appUrl: 2000 };

/** Returns the address, or null if it is empty or too long to print. */
export function readAppUrl(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= longest.appUrl ? value : null;
}

/** Returns whether JSON.parse has rounded the number to 0, as it does with `1e-400`. */
function isRounded(text: string | undefined): boolean {
  return /[1-9]/.test(text?.split(/e/i)[0] ?? '');
}

function count(value: unknown, text: string | undefined): number | null {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return null;
  return value === 0 && isRounded(text) ? null : value;
}

const largest = 'a whole number below 1.8e308';

/**
 * Parses any JSON as a status response. Counts are required only if the run has ended. Then a count that is missing, not a
 * number, negative or fractional makes the response invalid; it is never read as 0.
 * @param texts the original text of the fields, since `1e-400` is 0 in `json`
 */
export function readStatus(json: unknown, texts: ReadonlyMap<string, string>, redact: Redact): Reading {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const body = ownCopy(isObject ? json : {}) as Record<string, unknown>;
  const named = typeof body.state === 'string' && body.state !== '' && body.state.length <= longest.state;
  const state = named ? (body.state as string) : null;
  const failed = count(body.failed, texts.get('failed'));
  const blocked = count(body.blocked, texts.get('blocked'));
  const url = readAppUrl(body.appUrl);
  const appUrl = url === null ? null : redact(url);
  const known = { state: state === null ? null : redact(state), failed, blocked, appUrl };
  const seen = withTexts(known, { failed: texts.get('failed'), blocked: texts.get('blocked') });

  if (state === null) {
    const received = describe(isObject ? body.state : json, redact);
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
        ? `the number ${oneLine(text, 60, redact)}`
        : describe(value, redact);
    // JSON.parse reads 1e400 as infinity.
    const expected = value === Number.POSITIVE_INFINITY ? largest : 'a whole number, 0 or more';
    const violation = { field, expected, received };
    return { kind: 'broken', ended: true, violation, ...seen };
  }
  return { kind: 'ended', ...seen, state, failed, blocked };
}

/** Returns the URL of the run from a create response, or null if it has none. */
export function appUrlOf(response: unknown): string | null {
  const url = at(response, ['appUrl']) ?? at(response, ['run', 'appUrl']) ?? at(response, ['data', 'appUrl']);
  return readAppUrl(url);
}

/** Status codes of success for a response that is only a part of the status, or a change of it. */
const partial: readonly number[] = [206, 226];

/** Returns whether the id in a status is that of the run, either as text or read like a create response (`1.0` is `1`). */
function isOf(runId: string, text: string): boolean {
  return text === 'null' || text === runId || idText(text) === runId;
}

/** Returns why a status response cannot be that of the run, or null if it can. */
function distrust(
  { status, finalUrl, redact }: Exchange,
  members: readonly (readonly [string, string])[],
  runId: string,
): Violation | null {
  const not = (expected: string, received: string): Violation => ({ field: '', expected, received });
  if (partial.includes(status)) return not('complete', `partial content (${status})`);
  if (finalUrl !== undefined) {
    const { pathname } = new URL(finalUrl);
    if ((runInPath(pathname) ?? lastSegment(pathname)) !== runId) {
      const received = `the one at ${oneLine(pathname, 200, redact)}, after a redirect`;
      return not('the status of this run', received);
    }
  }
  const twice = repeatedName(members);
  if (twice !== undefined)
    return not('an object with each field once', `one with "${oneLine(twice, 60, redact)}" twice`);
  const other = members.find(([name, text]) => name === 'runId' && !isOf(runId, text))?.[1];
  if (other === undefined) return null;
  return not('the status of this run', `that of the runId ${oneLine(other, 80, redact)}`);
}

/** Parses a status response. It is `broken` if it may not be the whole status of this run. */
export function readResponse(response: Exchange, runId: string): Reading {
  const members = membersOf(response.text);
  const violation = distrust(response, members, runId);
  if (violation === null) return readStatus(response.value, new Map(members), response.redact);
  return { kind: 'broken', ended: false, violation, state: null, failed: null, blocked: null, appUrl: null };
}
