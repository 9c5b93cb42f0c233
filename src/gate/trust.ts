import type { Exchange } from '../client/caller.ts';
import { oneLine } from '../client/http-error.ts';
import { membersOf } from '../client/json-text.ts';
import { runInPath } from './run-id.ts';
import { type Reading, readStatus, type Violation } from './run-status.ts';

/** Success codes of a response that is only a part or a change of the whole. */
const partial: readonly number[] = [206, 226];

function lastSegment(path: string): string | null {
  try {
    return decodeURIComponent(path.split('/').findLast((part) => part !== '') ?? '');
  } catch {
    return null;
  }
}

function isOf(runId: string, text: string): boolean {
  // A number keeps its digits; JSON.parse would round it.
  return text === 'null' || text === runId || JSON.parse(text) === runId;
}

/** Why a status response cannot be that of the run, whatever it says; null if it can. */
function distrust(
  { status, finalUrl, conceal }: Exchange,
  members: readonly (readonly [string, string])[],
  runId: string,
): Violation | null {
  if (partial.includes(status)) {
    return { field: '', expected: 'complete', received: `partial content (HTTP ${status})` };
  }
  if (finalUrl !== undefined) {
    const { pathname } = new URL(finalUrl);
    const received = `the one at ${oneLine(pathname, 200, conceal)}, after a redirect`;
    if ((runInPath(pathname) ?? lastSegment(pathname)) !== runId)
      return { field: '', expected: 'the status of this run', received };
  }
  const names = new Set<string>();
  const twice = members.find(([name]) => names.size === names.add(name).size)?.[0];
  if (twice !== undefined) {
    return {
      field: '',
      expected: 'an object with each field once',
      received: `one with "${oneLine(twice, 60, conceal)}" twice`,
    };
  }
  const other = members.find(([name, text]) => name === 'runId' && !isOf(runId, text))?.[1];
  return other === undefined
    ? null
    : {
        field: '',
        expected: 'the status of this run',
        received: `that of the runId ${oneLine(other, 80, conceal)}`,
      };
}

/** Understands a status response: as broken if it cannot be trusted to be the whole status of this run. */
export function readResponse(response: Exchange, runId: string): Reading {
  const members = membersOf(response.text);
  const violation = distrust(response, members, runId);
  if (violation === null) return readStatus(response.value, new Map(members), response.conceal);
  return { kind: 'broken', ended: false, violation, state: null, failed: null, blocked: null, appUrl: null };
}
