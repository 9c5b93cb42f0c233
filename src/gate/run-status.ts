import type { Exchange } from '../client/caller.ts';
import { oneLine } from '../client/http-error.ts';
import { idText, membersOf, repeatedName } from '../client/json-text.ts';
import { withTexts } from '../exact-fields.ts';
import { ownCopy } from '../own-options.ts';
import type { Redact } from '../redact.ts';
import { at, lastSegment, runInPath } from './run-id.ts';
import type { EndedRun } from './verdict.ts';

/** What is wrong with a status reply, in the terms of the contract. */
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

/** One status reply, understood (interface, sections 2.6 and 3). */
export type Reading =
  | ({ kind: 'ended' } & EndedRun & { appUrl: string | null })
  | ({ kind: 'running'; known: boolean; retryAfterSeconds: number | null } & Seen)
  /** `ended`: the run is over, and the reply does not say how; otherwise the next read may be better. */
  | ({ kind: 'broken'; ended: boolean; violation: Violation } & Seen);

/** A value in a few words, for messages: never more of it than fits a line. */
export function describe(value: unknown, redact: Redact): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  const text = redact(JSON.stringify(value));
  return `the ${typeof value} ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

/** More than any name of a state, and any address that a browser would open. */
const longest = { state: 200, appUrl: 2000 };

/** What the service shows of itself, no longer than is fit to be printed. */
export function readAppUrl(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= longest.appUrl ? value : null;
}

/** A number that JSON.parse has rounded to 0, such as `1e-400`, is not 0: its digits say so. */
function isRounded(text: string | undefined): boolean {
  return /[1-9]/.test(text?.split(/e/i)[0] ?? '');
}

function count(value: unknown, text: string | undefined): number | null {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return null;
  return value === 0 && isRounded(text) ? null : value;
}

const largest = 'a whole number below 1.8e308';

/**
 * Understands any JSON as a status reply. Counts are required only where the run has ended; there, a count
 * that is missing, not a number, negative or fractional makes the reply useless, and it is never read as 0.
 * @param texts the fields as they came, where they are known: `1e-400` is 0 in `json`
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

/** The URL of the run, where the create reply has it. */
export function appUrlOf(reply: unknown): string | null {
  const url = at(reply, ['appUrl']) ?? at(reply, ['run', 'appUrl']) ?? at(reply, ['data', 'appUrl']);
  return readAppUrl(url);
}

/** Success codes of a response that is only a part or a change of the whole. */
const partial: readonly number[] = [206, 226];

/** Reads the id as the create response's was read: `1.0` is the run `1`. A status may also be that of an id that was typed. */
function isOf(runId: string, text: string): boolean {
  return text === 'null' || text === runId || idText(text) === runId;
}

/** Why a status response cannot be that of the run, whatever it says; null if it can. */
function distrust(
  { status, finalUrl, redact }: Exchange,
  members: readonly (readonly [string, string])[],
  runId: string,
): Violation | null {
  const not = (expected: string, received: string): Violation => ({ field: '', expected, received });
  if (partial.includes(status)) return not('complete', `partial content (HTTP ${status})`);
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

/** Reads a status response: as broken if it cannot be trusted to be the whole status of this run. */
export function readResponse(response: Exchange, runId: string): Reading {
  const members = membersOf(response.text);
  const violation = distrust(response, members, runId);
  if (violation === null) return readStatus(response.value, new Map(members), response.redact);
  return { kind: 'broken', ended: false, violation, state: null, failed: null, blocked: null, appUrl: null };
}
