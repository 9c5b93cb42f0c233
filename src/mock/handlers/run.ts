import type { run } from '../../contract/run.ts';
import { requireFound } from '../response.ts';
import { announceEnd, announceRun, cancelRun, progressNow } from '../runs.ts';
import type { HandlersOf, MockResponse } from '../service.ts';
import { finalCounts, type Run, type State } from '../state.ts';

type Status = MockResponse<(typeof run)['run.status']>['body'];

function runOf(state: State, tenant: string, id: string): Run {
  const run = state.runs.get(id);
  return requireFound(run?.tenant === tenant ? run : undefined, 'Run', id);
}

/** Interface, section 2.6. A polling interval is suggested only while the run is in progress. */
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
  'run.trigger': ({ body, tenant, state }) => {
    const { plan, runs } = state;
    const nth = plan.outcomes[Math.min(runs.size, plan.outcomes.length - 1)] ?? 'stuck';
    const outcome = plan.outcomeOf?.(body) ?? nth;
    const id = state.nextId('run');
    const appUrl = `${plan.appUrlBase}/projects/${encodeURIComponent(body.projectSlug)}/runs/${id}`;
    const created: Run = {
      id,
      tenant,
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

  'run.status': ({ params, tenant, state }) => {
    const run = runOf(state, tenant, params.runId);
    const body = shownStatus(state, run);
    if (body.state !== 'in_progress') run.endShown = true;
    return { body };
  },

  'run.cancel': ({ params, body, tenant, state }) => {
    const run = runOf(state, tenant, params.runId);
    cancelRun(state, run, body?.reason ?? undefined);
    return { body: { runId: run.id, ...shownStatus(state, run) } };
  },
};
