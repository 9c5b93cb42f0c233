import type { ResponseInput } from '../../contract/endpoint.ts';
import type { run as runApi } from '../../contract/run.ts';
import type { EventType } from '../data/webhooks.ts';
import { announceEvent } from '../events.ts';
import { requireFound } from '../response.ts';
import { actualProgress, finalCounts, type Outcome, type Run, type RunProgress } from '../runs.ts';
import type { HandlersOf } from '../service.ts';
import type { State } from '../state.ts';

/** Returns the progress of a run that its status shows. */
export function progressNow({ clock }: State, run: Run): RunProgress {
  const now = clock.monotonic();
  const progress = actualProgress(run, now);
  return now < (run.statusHeldUntil ?? 0) ? { ...progress, state: 'in_progress' } : progress;
}

function announceRun(state: State, run: Run, type: EventType, now: RunProgress): void {
  const { projectSlug: projectId } = run.request;
  announceEvent(state, type, projectId, { runId: run.id, projectId, ...now, appUrl: run.appUrl });
}

/** Announces the end of a run to webhooks, once; does nothing while it is in progress. */
export function announceEnd(state: State, run: Run): void {
  const now = actualProgress(run, state.clock.monotonic());
  if (run.announced === true || now.state === 'in_progress') return;
  run.announced = true;
  announceRun(state, run, now.state === 'cancelled' ? 'run.cancelled' : 'run.completed', now);
}

export const endings = ['passed', 'failed', 'blocked', 'cancelled'] as const satisfies readonly Outcome[];
/** How a caller may end a run of the mock. */
export type Ending = (typeof endings)[number];

/** Ends a run now, whatever its planned outcome, and returns true. Returns false for a run that has already ended, which stays as it is. */
export function endRun(state: State, run: Run, as: Ending, reason: string | undefined): boolean {
  const now = state.clock.monotonic();
  if (actualProgress(run, now).state !== 'in_progress') return false;
  if (as === 'cancelled') {
    run.cancelled = { at: now, reason };
  } else {
    run.outcome = as;
    run.durationMs = now - run.startedAt;
    // The defaults, because the requested counts may contradict this ending.
    run.counts = finalCounts(as);
  }
  announceEnd(state, run);
  return true;
}

function runOf({ runs }: State, id: string): Run {
  return requireFound(runs.get(id), 'Run', id);
}

/** A polling interval is suggested only while the run is in progress. */
function shownStatus(state: State, run: Run): ResponseInput<(typeof runApi)['run.status']> {
  // Announce the end before the status shows it, because a fault of the delivery can change the status.
  announceEnd(state, run);
  const { retryAfterSeconds } = state.plan;
  const status = { ...progressNow(state, run), appUrl: run.appUrl };
  const isSuggested = status.state === 'in_progress' && retryAfterSeconds !== undefined;
  return isSuggested ? { ...status, retryAfterSeconds } : status;
}

export const runHandlers: HandlersOf<typeof runApi> = {
  'run.trigger': ({ body, state }) => {
    const { plan, runs, clock } = state;
    const nth = plan.outcomes[Math.min(runs.size, plan.outcomes.length - 1)] ?? 'stuck';
    const outcome = plan.outcomeOf?.(body) ?? nth;
    const id = state.nextId('run');
    const appUrl = `${plan.appUrlBase}/projects/${encodeURIComponent(body.projectSlug)}/runs/${id}`;
    const created: Run = {
      id,
      request: body,
      outcome,
      startedAt: clock.monotonic(),
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
    endRun(state, run, 'cancelled', body?.reason ?? undefined);
    return { body: { runId: run.id, ...shownStatus(state, run) } };
  },
};
