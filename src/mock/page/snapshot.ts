import type { StoredDelivery, StoredWebhook } from '../data/webhooks.ts';
import type { RecordedRequest } from '../exchange.ts';
import { type Fault, type Faults, isDeliveryFault } from '../faults/faults.ts';
import { progressNow } from '../handlers/run.ts';
import type { Run, RunProgress, State } from '../state.ts';
import { knownSecrets, redactedLine, redactedTarget, redactedUrl } from './redaction.ts';

/** Details of a request that are not part of it. */
export interface Note {
  readonly number: number;
  /** The run that it created, or found by its idempotency key. */
  runId?: string;
}

export interface Scene {
  readonly state: State;
  readonly faults: Faults;
  /** Oldest first. */
  readonly requests: readonly RecordedRequest[];
  readonly tenantSecret: string | undefined;
  /** Wall-clock milliseconds when the page was created. */
  readonly openedAt: number;
  /** The difference between the wall clock and the monotonic clock. */
  readonly offset: number;
  note(request: RecordedRequest): Note;
  faultOf(affected: RecordedRequest | StoredDelivery): string | undefined;
}

type Sent = readonly [StoredWebhook, StoredDelivery];

const most = { runs: 50, deliveries: 50, requests: 100 };

export function findRun({ runs }: State, id: string): Run | undefined {
  return runs.get(id);
}

export function webhooksOf(state: State): StoredWebhook[] {
  return [...state.account.webhooks.values()];
}

/** Failures before a cancellation take precedence. */
function shownResult({ state, failed, blocked }: RunProgress): string {
  if (state === 'in_progress') return 'in progress';
  if (failed > 0) return 'failed';
  if (blocked > 0) return 'blocked';
  return state === 'cancelled' ? 'cancelled' : 'passed';
}

function faultRow({ id, fault }: { id: number; fault: Fault }) {
  const { times = 1, skip = 0 } = fault;
  const [target, affected] = isDeliveryFault(fault)
    ? [fault.event ?? 'every event', ['delivery', 'deliveries']]
    : [fault.endpoint ?? 'every endpoint', ['request', 'requests']];
  const kind = fault.kind === 'status' ? `status ${fault.status}` : fault.kind;
  const left = Number.isFinite(times)
    ? `${times} ${affected[times === 1 ? 0 : 1]} left`
    : `all ${affected[1]}`;
  const name = `${kind} on ${target}`;
  return { key: id, kind, target, name, when: skip === 0 ? left : `${left}, after the next ${skip}` };
}

const isUnsent = ([, { status }]: Sent) => status === 'not_sent';
const endTime = ({ cancelled, startedAt, durationMs }: Run) => cancelled?.at ?? startedAt + durationMs;
const secondsText = (ms: number) => `${Math.round(ms / 100) / 10} s`;

/** The content of the page as JSON. Untrusted text is one harmless line with the secrets redacted. */
export class Snapshot {
  readonly #scene: Scene;
  readonly #secrets: readonly string[];

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#secrets = knownSecrets(scene.state, scene.tenantSecret);
  }

  /** Returns one run with its requests and deliveries (`run` is null if it does not exist), or everything. */
  of(runId: unknown) {
    const { state, faults, requests } = this.#scene;
    if (runId === undefined) {
      const runs = [...state.runs.values()];
      return {
        runs: this.#newest(runs, most.runs).map((run) => this.#runRow(run)),
        // Newest first: the test form selects the first webhook, and users test the one they have just registered.
        webhooks: webhooksOf(state)
          .reverse()
          .map((webhook) => this.#webhookRow(webhook)),
        faults: faults.entries.map(faultRow),
        ...this.#activity(this.#sent(), requests),
      };
    }
    const run = findRun(state, String(runId));
    if (run === undefined) return { run: null };
    const sent = this.#sent().filter(
      ([, { payload }]) => (payload.data as { runId?: string }).runId === run.id,
    );
    const related = requests.filter((request) => this.#concerns(run, request));
    const parts = { fields: this.#fields(run), timeline: this.#timeline(run, sent) };
    return { run: { ...this.#runRow(run), ...parts }, ...this.#activity(sent, related) };
  }

  #newest<T>(items: readonly T[], count: number): T[] {
    return items.slice(-count).reverse();
  }

  #line(text: string): string {
    return redactedLine(text, this.#secrets);
  }

  #wallClock(monotonic: number): string {
    return new Date(monotonic + this.#scene.offset).toISOString();
  }

  /** Returns the deliveries since the page was created, oldest first, without those of the data set. */
  #sent(): Sent[] {
    const { state, openedAt } = this.#scene;
    return webhooksOf(state)
      .flatMap((webhook) => [...webhook.deliveries.values()].map((delivery): Sent => [webhook, delivery]))
      .filter(([, { lastAttemptAt }]) => Date.parse(lastAttemptAt) >= openedAt)
      .toSorted(([, a], [, b]) => a.createdAt.localeCompare(b.createdAt));
  }

  /** Returns whether a request created this run, found it by its idempotency key, or has its id in its path. */
  #concerns(run: Run, request: RecordedRequest): boolean {
    if (this.#scene.note(request).runId === run.id) return true;
    return request.endpoint?.startsWith('run.') === true && request.path.split('/')[4] === run.id;
  }

  #activity(sent: readonly Sent[], requests: readonly RecordedRequest[]) {
    // Deliveries that were not sent are more numerous, and must not displace the others.
    const shown = new Set([
      ...this.#newest(
        sent.filter((pair) => !isUnsent(pair)),
        most.deliveries,
      ),
      ...this.#newest(sent.filter(isUnsent), most.deliveries),
    ]);
    return {
      deliveries: this.#newest(sent, sent.length)
        .filter((pair) => shown.has(pair))
        .map((pair) => this.#deliveryRow(pair)),
      requests: this.#newest(requests, most.requests).map((request) => this.#requestRow(request)),
    };
  }

  #runRow(run: Run) {
    const { state } = this.#scene;
    const { request, outcome, startedAt, durationMs } = run;
    const now = progressNow(state, run);
    const share = (state.clock.monotonic() - startedAt) / durationMs;
    const { projectSlug, processSlug, tags } = request;
    return {
      key: run.id,
      result: shownResult(now),
      counts: `${now.failed} failed, ${now.blocked} blocked`,
      what: this.#line(`${projectSlug} / ${processSlug ?? tags?.join(', ')}`),
      at: this.#wallClock(startedAt),
      // A run without a duration gives 0 / 0.
      share: outcome === 'stuck' ? null : Math.min(1, Math.round(share * 100) / 100 || 0),
      path: `/projects/${encodeURIComponent(projectSlug)}/runs/${encodeURIComponent(run.id)}`,
    };
  }

  #webhookRow({ id, url, projectId }: StoredWebhook) {
    const project = projectId === null ? 'global' : this.#line(projectId);
    return { key: id, label: `${redactedUrl(url, this.#secrets)} (${project})` };
  }

  #deliveryRow([webhook, delivery]: Sent) {
    const { id, eventType, status, responseStatus, attempts, lastAttemptAt } = delivery;
    const to = redactedUrl(webhook.url, this.#secrets);
    return {
      key: id,
      at: lastAttemptAt,
      event: eventType,
      to,
      name: `${eventType} to ${to}`,
      status: status.replace('_', ' '),
      response: responseStatus === null ? '' : `HTTP ${responseStatus}`,
      attempts: attempts === 1 ? '' : `sent ${attempts} times`,
      fault: this.#faultOf(delivery),
    };
  }

  #requestRow(request: RecordedRequest) {
    const { number } = this.#scene.note(request);
    return {
      key: number,
      at: new Date(request.at).toISOString(),
      what: `${request.method} ${redactedTarget(request, this.#secrets)}`,
      endpoint: request.endpoint ?? 'no endpoint',
      status: request.status === null ? 'no response' : String(request.status),
      fault: this.#faultOf(request),
    };
  }

  #faultOf(affected: RecordedRequest | StoredDelivery): string {
    const fault = this.#scene.faultOf(affected);
    return fault === undefined ? '' : `fault: ${fault}`;
  }

  #fields(run: Run) {
    const { request, outcome, durationMs, startedAt } = run;
    const inProgress = progressNow(this.#scene.state, run).state === 'in_progress';
    const plan = outcome === 'stuck' ? 'never ends' : `${outcome} after ${secondsText(durationMs)}`;
    const fields: Record<string, string | null | undefined> = {
      Project: request.projectSlug,
      Process: request.processSlug,
      Tags: request.tags?.join(', '),
      Environment: request.environmentKey,
      Repository: request.repository,
      Ref: request.ref,
      Commit: request.commitSha,
      Event: request.event,
      'CI build': request.externalUrl,
      ...(inProgress ? { Plan: plan } : { Duration: secondsText(endTime(run) - startedAt) }),
    };
    return Object.entries(fields).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [{ key: name, name, value: this.#line(value) }],
    );
  }

  /** Returns the events of a run, oldest first. The mock has no individual tests, only counts. */
  #timeline(run: Run, sent: readonly Sent[]) {
    const deliveries = sent
      .filter((pair) => !isUnsent(pair))
      .map(([webhook, { createdAt, eventType, status }]) => ({
        at: createdAt,
        text: `${eventType} to ${redactedUrl(webhook.url, this.#secrets)}: ${status}`,
      }));
    const events = [{ at: this.#wallClock(run.startedAt), text: 'Started' }, ...deliveries];
    if (progressNow(this.#scene.state, run).state !== 'in_progress') {
      const reason = run.cancelled?.reason === undefined ? '' : `: ${run.cancelled.reason}`;
      events.push({
        at: this.#wallClock(endTime(run)),
        text: run.cancelled ? `Cancelled${reason}` : 'Ended',
      });
    }
    return events
      .toSorted((a, b) => a.at.localeCompare(b.at))
      .map(({ at, text }, index) => ({ key: index, at, text: this.#line(text) }));
  }
}
