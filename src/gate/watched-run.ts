import type { Clock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import type { HubLink } from './fleet/hub-link.ts';
import { firstProgress, type Progress, type RunOutcome } from './poll.ts';
import type { RunSubject } from './result-types.ts';

export interface WatchedRun {
  runId: string;
  subject: RunSubject;
  progress: Progress;
  /** The time of its next read, on the monotonic clock, in milliseconds. */
  due: number;
  /** The time at which the limits or the hub allow that read, if that is later; Infinity while only the hub knows it. */
  turn: number;
  outcome: RunOutcome | null;
  /** The times at which the wait for it began and ended, on the monotonic clock. An earlier slice may have seen its end. */
  startedAt: number;
  endedAt: number | null;
  appUrl: string | null;
  /** The key that started the run; null if this gate did not start it. */
  idempotencyKey: string | null;
  /** Whether an earlier request with the same key started it. */
  reattached: boolean;
  /** The number of the retry that started it; 0 for the gate's first run. */
  retry: number;
  /** The result of the request to cancel it; null if there was none. */
  cancellation: 'requested' | 'failed' | null;
  /** Wake-ups by the hub so far, and the reads that they have caused. */
  wakes: number;
  confirmations: number;
  /** The next read is one that a wake-up has caused. */
  woken: boolean;
  /** The last read was one. */
  readWoken: boolean;
}

export function watch(runId: string, now: number, known: Partial<WatchedRun> = {}): WatchedRun {
  return {
    runId,
    subject: named(),
    progress: firstProgress(),
    due: now,
    turn: now,
    outcome: null,
    startedAt: now,
    endedAt: null,
    appUrl: null,
    idempotencyKey: null,
    reattached: false,
    retry: 0,
    cancellation: null,
    wakes: 0,
    confirmations: 0,
    woken: false,
    readWoken: false,
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

/** More wake-ups of one run cause no reads: a hub cannot make a gate read without end. */
const mostWakes = 10;
/** After a read that a wake-up caused and that shows the run in progress: the delivery may have come before the status. */
const secondLookMs = 5_000;

/** Marks the runs that the hub wakes, until it is ended. `waking` returns the promise of the next wake-up, if there is a hub. */
export function wakeUps(
  runs: readonly WatchedRun[],
  { hub, clock }: { hub?: HubLink | undefined; clock: Clock },
) {
  let wake = () => {};
  const next = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  let waking = next();
  const end = hub?.onWake((runId) => {
    const run = runs.find((watched) => watched.runId === runId);
    if (run === undefined || run.outcome !== null || run.wakes >= mostWakes) return;
    run.wakes += 1;
    run.woken = true;
    // After a failed read, the service gets the time that it needs.
    if (run.progress.trouble === null) run.due = Math.min(run.due, clock.monotonic());
    wake();
    waking = next();
  });
  // Without a hub, a promise that never resolves would collect a callback for every read.
  return { waking: () => (hub === undefined ? [] : [waking]), end };
}

/**
 * Sets the next read of a run that is in progress after a read that a wake-up has caused.
 * @param isNew whether the gate has created the run
 */
export function lookAgain(run: WatchedRun, isNew: boolean, clock: Clock): void {
  if (run.confirmations >= 2 * run.wakes) return;
  // The delivery before the first read of a new run was probably about its start: the next read is a safety read.
  run.woken = !(isNew && run.progress.attempts === 1);
  run.due = Math.min(run.due, clock.monotonic() + secondLookMs);
}
