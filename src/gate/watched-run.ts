import type { TriggerBody } from '../contract/run.ts';
import type { Verdict } from './policy.ts';
import type { RunSubject } from './result-types.ts';

/** A run as the live view shows it. It changes in place; times on the monotonic clock, in milliseconds. */
export interface WatchedRun {
  runId: string;
  subject: RunSubject;
  appUrl: string | null;
  /** The number of the retry that started it; 0 for the gate's first run. */
  retry: number;
  /** The times at which the wait for it began and ended. An earlier slice may have seen its end. */
  startedAt: number;
  endedAt: number | null;
  /** Status reads, without those that got a 429. */
  attempts: number;
  /** The last valid status. */
  seen: { state: string | null; failed: number | null; blocked: number | null } | null;
  /** The last read failed. */
  hasTrouble: boolean;
  verdict: Exclude<Verdict, 'flaky'> | null;
  /** The time of its next read. */
  due: number;
  /** The time at which the limits or the hub allow that read, if that is later; Infinity while only the hub knows it. */
  turnAt: number;
  /** A wake-up has caused the next read. */
  woken: boolean;
}

export function watch(runId: string, now: number, known: Partial<WatchedRun> = {}): WatchedRun {
  return {
    runId,
    subject: named(),
    appUrl: null,
    retry: 0,
    startedAt: now,
    endedAt: null,
    attempts: 0,
    seen: null,
    hasTrouble: false,
    verdict: null,
    due: now,
    turnAt: now,
    woken: false,
    ...known,
  };
}

/** Returns the subject of a run that another command started, with the name that the user gives it, if any. */
export const named = (name: string | null = null): RunSubject => ({
  name,
  project: null,
  process: null,
  tags: null,
});

export function subjectOf({ projectSlug, processSlug, tags }: TriggerBody): RunSubject {
  return {
    name: `${projectSlug} / ${processSlug ?? tags?.join(', ')}`,
    project: projectSlug,
    process: processSlug ?? null,
    tags: tags ?? null,
  };
}
