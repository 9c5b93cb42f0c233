import { homeTenant } from '../data/account.ts';
import type { Delivery, Webhook } from '../data/webhooks.ts';
import type { RecordedRequest } from '../exchange.ts';
import type { Fault } from '../faults/faults.ts';
import type { Progress } from '../outcomes.ts';
import { progressNow } from '../runs.ts';
import type { Run, State } from '../state.ts';
import { secretsOf, shownLine, shownTarget, shownUrl } from './mask.ts';
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

/** A delivery that tells of this run. */
export function tellsOf(run: Run, { payload }: Delivery): boolean {
  return (payload.data as { runId?: unknown } | undefined)?.runId === run.id;
}

/** A request that made this run, found it by its key, or named it in its path. */
export function concerns({ note }: Scene, run: Run, request: RecordedRequest): boolean {
  return (
    note(request).runId === run.id ||
    (request.endpoint?.startsWith('run.') === true && request.path.split('/')[4] === run.id)
  );
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;

function endOf({ cancelled, startedAt, durationMs }: Run): number {
  return cancelled?.at ?? startedAt + durationMs;
}

function fieldsOf(scene: Scene, run: Run): [string, string | undefined][] {
  const { request, outcome, durationMs } = run;
  const goesOn = progressNow(scene.state, run).state === 'in_progress';
  const plan = outcome === 'stuck' ? 'never ends by itself' : `${outcome} after ${seconds(durationMs)}`;
  return [
    ['Project', request.projectSlug],
    ['Process', request.processSlug],
    ['Tags', request.tags?.join(', ')],
    ['Environment', request.environmentKey],
    ['Repository', request.repository],
    ['Ref', request.ref],
    ['Commit', request.commitSha],
    ['Event', request.event],
    ['CI build', request.externalUrl],
    goesOn ? ['Plan', plan] : ['Took', seconds(endOf(run) - run.startedAt)],
  ];
}

/** What happened to a run, oldest first. */
function timelineOf(
  { state, offset }: Scene,
  secrets: readonly string[],
  run: Run,
  deliveries: readonly (readonly [Webhook, Delivery])[],
) {
  const { cancelled } = run;
  const reason = cancelled?.reason === undefined ? '' : `: ${cancelled.reason}`;
  const isOver = progressNow(state, run).state !== 'in_progress';
  const ended = { at: iso(endOf(run) + offset), text: cancelled ? `Cancelled${reason}` : 'Ended' };
  return [
    { at: iso(run.startedAt + offset), text: 'Started' },
    ...deliveries
      .filter(([, { status }]) => status !== 'not_sent')
      .map(([webhook, { createdAt, eventType, status }]) => ({
        at: createdAt,
        text: `${eventType} to ${shownUrl(webhook.url, secrets)}: ${status}`,
      })),
    ...(isOver ? [ended] : []),
  ]
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .map(({ at, text }, index) => ({ key: index, at, text: shownLine(text, secrets) }));
}

/** The run of that id, if the page's tenant has one. */
export function findRun({ state }: Scene, id: string): Run | undefined {
  const run = state.runs.get(id);
  return run?.tenant === homeTenant ? run : undefined;
}

/** One run, with all that is known of it. The mock knows counts, and no single tests. */
export function runPage(
  scene: Scene,
  secrets: readonly string[],
  run: Run,
  deliveries: readonly (readonly [Webhook, Delivery])[],
) {
  return {
    ...runRow(scene, secrets, run),
    fields: fieldsOf(scene, run)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ({ key: name, name, value: shownLine(String(value), secrets) })),
    timeline: timelineOf(scene, secrets, run, deliveries),
  };
}

/** How many of each are shown: a page is for looking at what happens now. */
const most = { runs: 50, deliveries: 50, requests: 100 };

type Sent = readonly [Webhook, Delivery];

export function webhooksOf(state: State): readonly Webhook[] {
  return [...state.account(homeTenant).webhooks.values()];
}

/** What was sent since the page's time began, the newest first: the data set has older ones, which never were. */
function sentSince({ state, openedAt }: Scene): Sent[] {
  return webhooksOf(state)
    .flatMap((webhook) => [...webhook.deliveries.values()].map((delivery): Sent => [webhook, delivery]))
    .filter(([, { lastAttemptAt }]) => Date.parse(lastAttemptAt) >= openedAt)
    .reverse()
    .toSorted(([, a], [, b]) => b.createdAt.localeCompare(a.createdAt));
}

function happened(
  scene: Scene,
  secrets: readonly string[],
  sent: readonly Sent[],
  came: readonly RecordedRequest[],
) {
  // Those that were not sent are the more, and must not push the others out.
  const some = (wasSent: boolean) =>
    sent.filter(([, { status }]) => (status !== 'not_sent') === wasSent).slice(0, most.deliveries);
  const kept = new Set([...some(true), ...some(false)]);
  return {
    deliveries: sent
      .filter((one) => kept.has(one))
      .map(([webhook, one]) => deliveryRow(webhook, one, secrets)),
    requests: came
      .slice(-most.requests)
      .reverse()
      .map((one) => requestRow(scene, secrets, one)),
  };
}

/** All that the page shows. Everything from outside is one harmless line, with no secret in it. */
export function overview(scene: Scene) {
  const { state, faults, requests, tenantSecret } = scene;
  const secrets = secretsOf(state, tenantSecret);
  return {
    runs: [...state.runs.values()]
      .filter(({ tenant }) => tenant === homeTenant)
      .slice(-most.runs)
      .reverse()
      .map((run) => runRow(scene, secrets, run)),
    // The newest first: the one that somebody has just registered is the one to try.
    webhooks: webhooksOf(state)
      .toReversed()
      .map(({ id, url, projectId }) => ({
        key: id,
        label: `${shownUrl(url, secrets)} (${projectId === null ? 'global' : shownLine(projectId, secrets)})`,
      })),
    faults: faults.entries.map(({ id, fault }) => faultRow(id, fault)),
    ...happened(scene, secrets, sentSince(scene), requests),
  };
}

/** One run and what concerned it; `run` is null where there is none of that id. */
export function oneRun(scene: Scene, runId: string) {
  const run = findRun(scene, runId);
  if (run === undefined) return { run: null };
  const secrets = secretsOf(scene.state, scene.tenantSecret);
  const sent = sentSince(scene).filter(([, delivery]) => tellsOf(run, delivery));
  const came = scene.requests.filter((request) => concerns(scene, run, request));
  return { run: runPage(scene, secrets, run, sent), ...happened(scene, secrets, sent, came) };
}
