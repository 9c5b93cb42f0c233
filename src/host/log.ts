import { type Stats, statSync } from 'node:fs';
import { readLineage, readStat } from './process-events.ts';

/** The files behind the standard output and the standard error of a process, by device and inode. */
export interface Streams {
  readonly out: string;
  readonly err: string;
}

const idOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;

/** Returns null if this is not Linux, or for a process that ended or that belongs to another user. */
function streamsOf(pid: number | 'self'): (Streams & { errStats: Stats }) | null {
  try {
    const [out, err] = [1, 2].map((fd) => statSync(`/proc/${pid}/fd/${fd}`)) as [Stats, Stats];
    return { out: idOf(out), err: idOf(err), errStats: err };
  } catch {
    return null;
  }
}

/**
 * Returns whether the starter of a process left both streams to it as they are. A shell that captures or pipes the output
 * keeps its standard error, so an ancestor with the same standard error and another standard output reads the result.
 * @param above the streams of the starter, then of its parent and so on; null where they are unknown
 */
export function isInherited({ out, err }: Streams, above: Iterable<Streams | null>): boolean {
  let inherited = false;
  for (const streams of above) {
    if (streams?.err !== err) break;
    if (streams.out !== out) return false;
    inherited = true;
  }
  return inherited;
}

/** Yields the streams of a process and of its ancestors. */
function* streamsAbove(pid: number): Generator<Streams | null> {
  for (let at = pid; at > 0; at = readStat(at)?.parent ?? 0) yield streamsOf(at);
}

/**
 * Returns whether the output goes where that of the calling script goes, such as the log of a CI job: no pipe, variable or file
 * of the script reads it. False where that is unknown, as on other systems than Linux.
 * @param parent the parent's process id
 */
export function sharesOutput(parent: number): boolean {
  const own = streamsOf('self');
  if (own === null) return false;
  // Messages that are thrown away or saved apart say nothing about the result.
  const isApart = own.errStats.isCharacterDevice() || (own.errStats.isFile() && own.out !== own.err);
  if (isApart) return false;
  // `npx` and its shell pass on the streams that the script gave them; an agent of a CI system has others.
  const { runner } = readLineage(parent);
  const given = runner === null ? null : streamsOf(runner);
  const isPassedOn = given?.out === own.out && given.err === own.err;
  return isInherited(own, streamsAbove(isPassedOn ? (readStat(runner ?? 0)?.parent ?? 0) : parent));
}
