import type { EventType } from './data/webhooks.ts';
import { announce } from './events.ts';
import { type Progress, progress } from './outcomes.ts';
import type { Run, State } from './state.ts';

/** Where a run stands now. */
export function progressNow(state: State, run: Run): Progress {
  const until = run.cancelled?.at ?? state.clock.monotonic();
  const reached = progress(run.outcome, until - run.startedAt, run.durationMs, run.counts);
  return run.cancelled === undefined ? reached : { ...reached, state: 'cancelled' };
}

export function announceRun(state: State, run: Run, type: EventType, now: Progress): void {
  const { id: runId, appUrl, request } = run;
  const { projectSlug: projectId } = request;
  announce(state, run.tenant, { type, projectId, data: { runId, projectId, ...now, appUrl } });
}

/** Tells of a run's end, once; nothing happens while it is in progress. */
export function announceEnd(state: State, run: Run): void {
  const now = progressNow(state, run);
  if (run.announced === true || now.state === 'in_progress') return;
  run.announced = true;
  announceRun(state, run, now.state === 'cancelled' ? 'run.cancelled' : 'run.completed', now);
}
