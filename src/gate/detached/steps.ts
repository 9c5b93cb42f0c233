import { exitCodes } from '../../exit.ts';
import type { CommitStatus, StatusState } from './github.ts';

/**
 * The steps of a job around its gate, in their order. The job ends with an error at the first one that fails.
 * `register`: the hub accepts the gate. `compare`: no different gate has had the commit status, which the hub may have forgotten.
 * `pend`: the commit status is pending, and names the gate.
 * `confirm`: no newer gate has replaced it meanwhile, and the hub still has it.
 * `replace`: the gates that this one replaces are told so, and their runs are cancelled.
 */
export const opening = ['register', 'compare', 'pend', 'confirm', 'replace'] as const;
export type OpeningStep = (typeof opening)[number];

/**
 * `release`: the hub has the last state, and starts the next job.
 * `decide`: the hub lets no newer gate begin meanwhile. `look`: the commit status still names this gate, or an older one.
 * `set`: the commit status is the result. `finish`: the hub starts no other job.
 */
export const closing = {
  waiting: ['release'],
  ended: ['decide', 'look', 'set', 'finish'],
} as const;

const verdictCodes: readonly number[] = [exitCodes.failed, exitCodes.blocked, exitCodes.cancelled];

/** Returns the commit status of a gate that has ended. Only a verdict is a `failure`; all else that does not pass is an `error`. */
export function stateOf(result: string, exitCode: number): StatusState {
  if (exitCode === exitCodes.ok) return result === 'pass' || result === 'warn' ? 'success' : 'error';
  return verdictCodes.includes(exitCode) ? 'failure' : 'error';
}

const longestContext = 255;

/** Returns the name of the commit status, which is the same for each commit. @param names those of the gates, in their order */
export const contextOf = (names: readonly string[]): string =>
  `rungate: ${names.join(', ')}`.slice(0, longestContext);

const mark = (id: string) => ` (gate ${id})`;
/** GitHub cuts nothing: a longer description is refused. */
const longest = 140;

/** Returns a description that names the gate. */
export const describedAs = (text: string, id: string): string =>
  `${text.slice(0, longest - mark(id).length)}${mark(id)}`;

/** Returns whether a commit status is that of a different gate. @param kind the beginning of the ids of one gate */
export const isOfOther = (status: CommitStatus | null, kind: string): boolean =>
  /\(gate (?<id>\w+)\)$/.exec(status?.description ?? '')?.groups?.id?.startsWith(kind) === false;

/** Returns whether a commit status is that of one of the gates: nobody else has set it since. */
export const isOf = (status: CommitStatus | null, ids: readonly string[]): boolean =>
  ids.some((id) => status?.description.endsWith(mark(id)));
