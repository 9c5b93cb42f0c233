import { homeTenant } from '../data/account.ts';
import type { Delivery, Webhook } from '../data/webhooks.ts';
import type { RecordedRequest } from '../exchange.ts';
import type { Fault, Faults } from '../faults/faults.ts';
import type { Progress } from '../outcomes.ts';
import { progressNow } from '../runs.ts';
import type { Run, State } from '../state.ts';
import { secretsOf, shownLine, shownTarget, shownUrl } from './mask.ts';

/** What is known of a request beside what came over the wire. */
export interface Note {
  readonly number: number;
  /** The run that it made, or found by its key. */
  runId?: string;
  /** The kind of fault that it met. */
  fault?: string;
}

/** What the page looks at. */
export interface Scene {
  readonly state: State;
  readonly faults: Faults;
  /** Oldest first. */
  readonly requests: readonly RecordedRequest[];
  readonly tenantSecret: string | undefined;
  /** Wall-clock milliseconds when the page's time began. */
  readonly openedAt: number;
  /** What to add to a monotonic time to have the wall clock's. */
  readonly offset: number;
  note(request: RecordedRequest): Note;
}

type Sent = readonly [Webhook, Delivery];

/** How many of each are shown: a page is for looking at what happens now. */
const most = { runs: 50, deliveries: 50, requests: 100 };

/** The run of that id, if the page's tenant has one. */
export function findRun({ runs }: State, id: string): Run | undefined {
  const run = runs.get(id);
  return run?.tenant === homeTenant ? run : undefined;
}

export function webhooksOf(state: State): Webhook[] {
  return [...state.account(homeTenant).webhooks.values()];
}

/** Interface, section 3: what was cancelled may have failed before, and that comes first. */
function resultOf({ state, failed, blocked }: Progress): string {
  if (state === 'in_progress') return 'in progress';
  if (failed > 0) return 'failed';
  if (blocked > 0) return 'blocked';
  return state === 'cancelled' ? 'cancelled' : 'passed';
}

function faultRow({ id, fault }: { id: number; fault: Fault }) {
  const { endpoint = 'every endpoint', times = 1, skip = 0 } = fault;
  const kind = fault.kind === 'status' ? `status ${fault.status}` : fault.kind;
  const calls = Number.isFinite(times) ? `${times} ${times === 1 ? 'call' : 'calls'} left` : 'every call';
  const name = `${kind} on ${endpoint}`;
  return { key: id, kind, endpoint, name, calls: skip === 0 ? calls : `${calls}, after ${skip} more` };
}

const isUnsent = ([, { status }]: Sent) => status === 'not_sent';
const endOf = ({ cancelled, startedAt, durationMs }: Run) => cancelled?.at ?? startedAt + durationMs;
const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;

/** What the page shows, as JSON. Everything from outside is one harmless line, with no secret in it. */
export class Snapshot {
  readonly #scene: Scene;
  readonly #secrets: readonly string[];

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#secrets = secretsOf(scene.state, scene.tenantSecret);
  }

  /** One run and what concerned it, `run` being null where there is none of that id; or everything. */
  of(runId: unknown) {
    const { state, faults, requests } = this.#scene;
    if (runId === undefined) {
      const runs = [...state.runs.values()].filter(({ tenant }) => tenant === homeTenant);
      return {
        runs: this.#newest(runs, most.runs).map((run) => this.#runRow(run)),
        // The newest first: the one that somebody has just registered is the one to try.
        webhooks: webhooksOf(state)
          .reverse()
          .map((webhook) => this.#webhookRow(webhook)),
        faults: faults.entries.map(faultRow),
        ...this.#happened(this.#sent(), requests),
      };
    }
    const run = findRun(state, String(runId));
    if (run === undefined) return { run: null };
    const sent = this.#sent().filter(
      ([, { payload }]) => (payload.data as { runId?: string }).runId === run.id,
    );
    const came = requests.filter((request) => this.#concerns(run, request));
    const parts = { fields: this.#fields(run), timeline: this.#timeline(run, sent) };
    return { run: { ...this.#runRow(run), ...parts }, ...this.#happened(sent, came) };
  }

  #newest<T>(items: readonly T[], count: number): T[] {
    return items.slice(-count).reverse();
  }

  #line(text: string): string {
    return shownLine(text, this.#secrets);
  }

  #wallClock(monotonic: number): string {
    return new Date(monotonic + this.#scene.offset).toISOString();
  }

  /** What was sent since the page's time began, oldest first: the data set has older ones, which never were. */
  #sent(): Sent[] {
    const { state, openedAt } = this.#scene;
    return webhooksOf(state)
      .flatMap((webhook) => [...webhook.deliveries.values()].map((delivery): Sent => [webhook, delivery]))
      .filter(([, { lastAttemptAt }]) => Date.parse(lastAttemptAt) >= openedAt)
      .toSorted(([, a], [, b]) => a.createdAt.localeCompare(b.createdAt));
  }

  /** Whether a request made this run, found it by its key, or named it in its path. */
  #concerns(run: Run, request: RecordedRequest): boolean {
    if (this.#scene.note(request).runId === run.id) return true;
    return request.endpoint?.startsWith('run.') === true && request.path.split('/')[4] === run.id;
  }

  #happened(sent: readonly Sent[], came: readonly RecordedRequest[]) {
    // Those that were not sent are the more, and must not push the others out.
    const shown = new Set([
      ...this.#newest(
        sent.filter((one) => !isUnsent(one)),
        most.deliveries,
      ),
      ...this.#newest(sent.filter(isUnsent), most.deliveries),
    ]);
    return {
      deliveries: this.#newest(sent, sent.length)
        .filter((one) => shown.has(one))
        .map((one) => this.#deliveryRow(one)),
      requests: this.#newest(came, most.requests).map((request) => this.#requestRow(request)),
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
      result: resultOf(now),
      counts: `${now.failed} failed, ${now.blocked} blocked`,
      what: this.#line(`${projectSlug} / ${processSlug ?? tags?.join(', ')}`),
      at: this.#wallClock(startedAt),
      // Of a run that takes no time: 0 / 0.
      share: outcome === 'stuck' ? null : Math.min(1, Math.round(share * 100) / 100 || 0),
      path: `/projects/${encodeURIComponent(projectSlug)}/runs/${encodeURIComponent(run.id)}`,
    };
  }

  #webhookRow({ id, url, projectId }: Webhook) {
    const project = projectId === null ? 'global' : this.#line(projectId);
    return { key: id, label: `${shownUrl(url, this.#secrets)} (${project})` };
  }

  #deliveryRow([webhook, delivery]: Sent) {
    const { id, eventType, status, responseStatus, attempts, lastAttemptAt } = delivery;
    const to = shownUrl(webhook.url, this.#secrets);
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

  #requestRow(request: RecordedRequest) {
    const { number, fault } = this.#scene.note(request);
    return {
      key: number,
      at: new Date(request.at).toISOString(),
      what: `${request.method} ${shownTarget(request, this.#secrets)}`,
      endpoint: request.endpoint ?? 'no endpoint',
      status: request.status === null ? 'no reply' : String(request.status),
      fault: fault === undefined ? '' : `fault: ${fault}`,
    };
  }

  #fields(run: Run) {
    const { request, outcome, durationMs, startedAt } = run;
    const goesOn = progressNow(this.#scene.state, run).state === 'in_progress';
    const plan = outcome === 'stuck' ? 'never ends by itself' : `${outcome} after ${seconds(durationMs)}`;
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
      ...(goesOn ? { Plan: plan } : { Took: seconds(endOf(run) - startedAt) }),
    };
    return Object.entries(fields).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [{ key: name, name, value: this.#line(value) }],
    );
  }

  /** What happened to a run, oldest first. The mock knows counts, and no single tests. */
  #timeline(run: Run, sent: readonly Sent[]) {
    const told = sent
      .filter((one) => !isUnsent(one))
      .map(([webhook, { createdAt, eventType, status }]) => ({
        at: createdAt,
        text: `${eventType} to ${shownUrl(webhook.url, this.#secrets)}: ${status}`,
      }));
    const events = [{ at: this.#wallClock(run.startedAt), text: 'Started' }, ...told];
    if (progressNow(this.#scene.state, run).state !== 'in_progress') {
      const reason = run.cancelled?.reason === undefined ? '' : `: ${run.cancelled.reason}`;
      events.push({ at: this.#wallClock(endOf(run)), text: run.cancelled ? `Cancelled${reason}` : 'Ended' });
    }
    return events
      .toSorted((a, b) => a.at.localeCompare(b.at))
      .map(({ at, text }, index) => ({ key: index, at, text: this.#line(text) }));
  }
}
