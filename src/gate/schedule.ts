import { nextReadAt } from '../client/rate-limit.ts';
import { type Slots, slotFrom } from './fleet/slots.ts';

/** A run as the schedule sees it. */
export interface Scheduled {
  /** When it is read next, on the monotonic clock, in milliseconds. */
  due: number;
  outcome: unknown;
}

/**
 * Returns which run is read next, and when: of those without an outcome that are not being read, the one that has been due
 * for longest. Null when there is none. Reads may overlap, and keep to the limit by when they begin.
 * @param past when earlier reads began, in order
 */
export function nextRead<Run extends Scheduled>(
  runs: readonly Run[],
  reading: ReadonlyMap<Run, unknown>,
  past: readonly number[],
  slots: Slots | undefined,
): { run: Run; at: number } | null {
  const waiting = runs.filter((run) => run.outcome === null && !reading.has(run));
  const [run] = waiting.toSorted((a, b) => a.due - b.due);
  if (run === undefined) return null;
  if (slots !== undefined) {
    // Each of a fleet's moments is for one read.
    const last = past.at(-1);
    const earliest = last === undefined ? run.due : Math.max(run.due, last + slots.everyMs / 2);
    return { run, at: slotFrom(earliest, slots) };
  }
  // One run alone is read as the service asks. Several share the limit on reads between them.
  return { run, at: runs.length > 1 ? nextReadAt(past, run.due) : run.due };
}
