import type { Clock } from '../../clock.ts';
import { asksForPatience } from '../poll.ts';
import type { WatchedRun } from '../watched-run.ts';
import type { HubLink } from './hub-link.ts';

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
    // A service that asks for patience gets it.
    if (!asksForPatience(run.progress.trouble)) run.due = Math.min(run.due, clock.monotonic());
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
