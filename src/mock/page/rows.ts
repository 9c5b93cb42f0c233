import type { Delivery, Webhook } from '../data/webhooks.ts';
import type { RecordedRequest } from '../exchange.ts';
import type { Fault } from '../faults/faults.ts';
import type { Progress } from '../outcomes.ts';
import { progressNow } from '../run-events.ts';
import type { Run } from '../state.ts';
import { shownLine, shownTarget, shownUrl } from './mask.ts';
import type { Scene } from './scene.ts';

export const iso = (ms: number) => new Date(ms).toISOString();

/** Interface, section 3: what was cancelled may have failed before, and that comes first. */
function resultOf({ state, failed, blocked }: Progress): string {
  if (state === 'in_progress') return 'in progress';
  if (failed > 0) return 'failed';
  if (blocked > 0) return 'blocked';
  return state === 'cancelled' ? 'cancelled' : 'passed';
}

export function runRow({ state, offset }: Scene, secrets: readonly string[], run: Run) {
  const now = progressNow(state, run);
  const { projectSlug, processSlug, tags = [] } = run.request;
  const share = run.outcome === 'stuck' ? null : (state.clock.monotonic() - run.startedAt) / run.durationMs;
  return {
    key: run.id,
    result: resultOf(now),
    counts: `${now.failed} failed, ${now.blocked} blocked`,
    what: shownLine(`${projectSlug} / ${processSlug ?? tags.join(', ')}`, secrets),
    at: iso(run.startedAt + offset),
    // Of a run that takes no time: 0 / 0.
    share: share === null ? null : Math.min(1, Math.round(share * 100) / 100 || 0),
    path: `/projects/${encodeURIComponent(projectSlug)}/runs/${encodeURIComponent(run.id)}`,
  };
}

export function deliveryRow(webhook: Webhook, delivery: Delivery, secrets: readonly string[]) {
  const { id, eventType, status, responseStatus, attempts, lastAttemptAt } = delivery;
  const to = shownUrl(webhook.url, secrets);
  return {
    key: id,
    at: lastAttemptAt,
    event: eventType,
    to,
    name: `${eventType} to ${to}`,
    status: status.replace('_', ' '),
    answer: responseStatus === null ? '' : `HTTP ${responseStatus}`,
    attempts: attempts === 1 ? '' : `${attempts} attempts`,
  };
}

export function requestRow({ note }: Scene, secrets: readonly string[], request: RecordedRequest) {
  const { number, fault } = note(request);
  return {
    key: number,
    at: iso(request.at),
    what: `${request.method} ${shownTarget(request, secrets)}`,
    endpoint: request.endpoint ?? 'no endpoint',
    status: request.status === null ? 'no reply' : String(request.status),
    fault: fault === undefined ? '' : `fault: ${fault}`,
  };
}

export function faultRow(id: number, fault: Fault) {
  const { kind, endpoint = 'every endpoint', times = 1, skip = 0 } = fault;
  const shown = kind === 'status' ? `status ${fault.status}` : kind;
  const calls = Number.isFinite(times) ? `${times} ${times === 1 ? 'call' : 'calls'} left` : 'every call';
  return {
    key: id,
    kind: shown,
    endpoint,
    name: `${shown} on ${endpoint}`,
    calls: skip === 0 ? calls : `${calls}, after ${skip} more`,
  };
}
