import type { run } from '../../contract/run.ts';
import type { EventType } from '../data/webhooks.ts';
import { requireFound } from '../response.ts';
import { announceEvent } from '../sender.ts';
import type { HandlersOf, MockResponse } from '../service.ts';
import { finalCounts, type Outcome, progress, type Run, type RunProgress, type State } from '../state.ts';

/** Returns the current progress of a run, even if its status does not show it yet. */
function actualProgress(state: State, run: Run): RunProgress {
  const until = run.cancelled?.at ?? state.clock.monotonic();
  const reached = progress(run.outcome, until - run.startedAt, run.durationMs, run.counts);
  return run.cancelled === undefined ? reached : { ...reached, state: 'cancelled' };
}

/** Returns the progress of a run that its status shows. */
export function progressNow(state: State, run: Run): RunProgress {
  const progress = actualProgress(state, run);
  const isHeld = state.clock.monotonic() < (run.statusHeldUntil ?? 0);
  return isHeld ? { ...progress, state: 'in_progress' } : progress;
}

/** Keeps the status of a run at `in_progress` for a while, although it has ended. */
export function holdStatus(state: State, runId: unknown, ms: number): void {
  const run = state.runs.get(String(runId));
  if (run !== undefined) run.statusHeldUntil = state.clock.monotonic() + ms;
}

export function announceRun(state: State, run: Run, type: EventType, now: RunProgress): void {
  const { id: runId, appUrl, request } = run;
  const { projectSlug: projectId } = request;
  announceEvent(state, { type, projectId, data: { runId, projectId, ...now, appUrl } });
}

/** Announces the end of a run to webhooks, once; does nothing while it is in progress. */
export function announceEnd(state: State, run: Run): void {
  const now = actualProgress(state, run);
  if (run.announced === true || now.state === 'in_progress') return;
  run.announced = true;
  announceRun(state, run, now.state === 'cancelled' ? 'run.cancelled' : 'run.completed', now);
}

export const endings = ['passed', 'failed', 'blocked', 'cancelled'] as const satisfies readonly Outcome[];
/** How a caller may end a run of the mock. */
export type Ending = (typeof endings)[number];

/** Cancels a run and returns true. Returns false for a run that has already ended, which stays as it is. */
export function cancelRun(state: State, run: Run, reason: string | undefined): boolean {
  if (actualProgress(state, run).state !== 'in_progress') return false;
  run.cancelled = { at: state.clock.monotonic(), reason };
  announceEnd(state, run);
  return true;
}

/** Ends a run now, whatever its planned outcome. Returns false for a run that has already ended. */
export function endRun(state: State, run: Run, as: Ending, reason: string): boolean {
  if (as === 'cancelled') return cancelRun(state, run, reason);
  if (actualProgress(state, run).state !== 'in_progress') return false;
  run.outcome = as;
  run.durationMs = state.clock.monotonic() - run.startedAt;
  // The defaults, because the requested counts may contradict this ending.
  run.counts = finalCounts(as);
  announceEnd(state, run);
  return true;
}

type Status = MockResponse<(typeof run)['run.status']>['body'];

function runOf({ runs }: State, id: string): Run {
  return requireFound(runs.get(id), 'Run', id);
}

/** A polling interval is suggested only while the run is in progress. */
function shownStatus(state: State, run: Run): Status {
  // Announce the end before the status shows it, because a fault of the delivery can change the status.
  announceEnd(state, run);
  const now = progressNow(state, run);
  const { retryAfterSeconds } = state.plan;
  const status = { ...now, appUrl: run.appUrl };
  return now.state === 'in_progress' && retryAfterSeconds !== undefined
    ? { ...status, retryAfterSeconds }
    : status;
}

export const runHandlers: HandlersOf<typeof run> = {
  'run.trigger': ({ body, state }) => {
    const { plan, runs } = state;
    const nth = plan.outcomes[Math.min(runs.size, plan.outcomes.length - 1)] ?? 'stuck';
    const outcome = plan.outcomeOf?.(body) ?? nth;
    const id = state.nextId('run');
    const appUrl = `${plan.appUrlBase}/projects/${encodeURIComponent(body.projectSlug)}/runs/${id}`;
    const created: Run = {
      id,
      request: body,
      outcome,
      startedAt: state.clock.monotonic(),
      durationMs: plan.durationMs,
      counts: finalCounts(outcome, plan.counts),
      appUrl,
    };
    runs.set(id, created);
    announceRun(state, created, 'run.started', progressNow(state, created));
    state.watchRun(created);
    return { status: 201, body: { runId: id, state: 'in_progress', appUrl } };
  },

  'run.status': ({ params, state }) => {
    const run = runOf(state, params.runId);
    const body = shownStatus(state, run);
    if (body.state !== 'in_progress') run.endShown = true;
    return { body };
  },

  'run.cancel': ({ params, body, state }) => {
    const run = runOf(state, params.runId);
    cancelRun(state, run, body?.reason ?? undefined);
    return { body: { runId: run.id, ...shownStatus(state, run) } };
  },
};
