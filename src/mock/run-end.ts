import { finalCounts, type Outcome } from './outcomes.ts';
import { announceEnd, progressNow } from './run-events.ts';
import type { Run, State } from './state.ts';

/** How a run can be made to end before its time. */
export const endings = ['passed', 'failed', 'blocked', 'cancelled'] as const satisfies readonly Outcome[];
/** How a run can be made to end before its time. */
export type Ending = (typeof endings)[number];

/** A run that has ended stays as it is: cancelling again, or too late, changes nothing and is no error. */
export function cancelRun(state: State, run: Run, reason: string | undefined): boolean {
  if (progressNow(state, run).state !== 'in_progress') return false;
  run.cancelled = { at: state.clock.monotonic(), reason };
  announceEnd(state, run);
  return true;
}

/** Ends a run now, whatever was planned for it; false where it had ended already, and stays as it is. */
export function endRun(state: State, run: Run, as: Ending, reason: string): boolean {
  if (as === 'cancelled') return cancelRun(state, run, reason);
  if (progressNow(state, run).state !== 'in_progress') return false;
  run.outcome = as;
  run.durationMs = state.clock.monotonic() - run.startedAt;
  // The usual ones: counts that were asked for might say another thing than the ending does.
  run.counts = finalCounts(as);
  announceEnd(state, run);
  return true;
}
