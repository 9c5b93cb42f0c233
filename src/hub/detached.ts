import {
  collides,
  type DetachedGate,
  deciding,
  fetched,
  isForgotten,
  isOpen,
  isPending,
  isSame,
  named,
  precedes,
  type Refusal,
  registered,
  replaced,
  replaces,
  saved,
  startAt,
  started,
  startFailed,
} from '../gate/detached/entry.ts';
import {
  type DecideResponse,
  type FetchRequest,
  type FetchResponse,
  type ListRequest,
  type ListResponse,
  type RegisterRequest,
  type RegisterResponse,
  refusals,
  type SaveRequest,
} from '../gate/detached/protocol.ts';
import type { GateStore } from './gate-store.ts';
import { BadRequest, type HubLogEvent } from './http.ts';
import type { Wakes } from './wakes.ts';

/** Starts the job of a gate at its CI provider. Must end in time. */
export type StartJob = (gate: DetachedGate) => Promise<void>;

/** Each sealed state has up to 87 kB. */
export const mostGates = 2_000;
/** Jobs that one sweep starts. GitHub allows about 80 requests a minute that create something. */
const mostStarts = 2;
/** A gate repeats its request three times, which is as long as a job may decide. */
const longestRetryS = 20;
/** Other requests may change an entry between two calls of one. */
const mostTries = 10;

function refusal(reason: Refusal): BadRequest {
  const { status, fact } = refusals[reason];
  return new BadRequest(status, fact, { reason });
}

const read = (entry: string): DetachedGate => JSON.parse(entry);

interface DetachedOptions {
  store: GateStore;
  wakes: Wakes;
  /** Null if the hub cannot start jobs. */
  startJob: StartJob | null;
  log(event: HubLogEvent): void;
}

/** The gates that go on without a job. Their rules are those of `entry.ts`. */
export class DetachedGates {
  readonly #options: DetachedOptions;
  readonly #store: GateStore;
  /** Open gates when they were last counted. */
  open = 0;
  #sweeping: Promise<void> | null = null;

  constructor(options: DetachedOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  /** Keeps a new gate in place of older ones. The same request may be repeated. */
  async register(request: RegisterRequest): Promise<RegisterResponse> {
    const { id } = request;
    await this.#add(request);
    // The gate is kept first: of two that come at the same time, at least one finds the other.
    const gates = await this.#all();
    const gate = gates.find((each) => each.id === id);
    if (gate === undefined) throw refusal('unknown');
    // Of two that come at the same time, neither begins.
    if (gates.some((other) => collides(other, gate))) {
      const [entry] = await this.#store.get(id);
      await this.#store.replace(id, entry, '', '');
      throw refusal('other');
    }
    const newer = gates.find((other) => replaces(gate, other));
    if (newer !== undefined) await this.#replace(gate, newer);
    if (newer !== undefined || gate.replacedBy !== null) throw refusal('replaced');
    for (const older of gates) if (replaces(older, gate)) await this.#replace(older, gate);
    const past = (await this.#all()).filter(({ replacedBy }) => replacedBy === id);
    return {
      startsJobs: this.#options.startJob !== null,
      replaced: await Promise.all(past.map((each) => this.#sealed(each))),
    };
  }

  async save({ id, job, ...save }: SaveRequest): Promise<void> {
    await this.#change(id, (gate, now) => saved(gate, save, job, now), save.sealed);
    if (save.done) this.#options.log({ type: 'gate-done', id });
  }

  async fetch({ id, job }: FetchRequest): Promise<FetchResponse> {
    const gate = await this.#change(id, (each, now) => fetched(each, job, now));
    return { ...(await this.#sealed(gate)), overdue: (await this.#store.now()) >= gate.endsAt };
  }

  async decide({ id, job }: FetchRequest): Promise<DecideResponse> {
    const gate = await this.#change(id, (each, now) => deciding(each, job, now));
    const gates = (await this.#all()).filter((each) => each.commit === gate.commit && !isOpen(each));
    const older = gates.filter((each) => precedes(each, gate));
    return { older: older.map((each) => each.id) };
  }

  async list({ repository }: ListRequest): Promise<ListResponse> {
    const now = await this.#store.now();
    const gates = (await this.#all()).filter(
      (gate) => isSame(gate.repository, repository) && isPending(gate, now),
    );
    return { ids: gates.sort((a, b) => a.registeredAt - b.registeredAt).map(({ id }) => id) };
  }

  /** Forgets old gates, and starts the jobs that are due. Does nothing while an earlier sweep goes on. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error) => {
        // Without Redis, other hubs may start the jobs.
        if (!(error instanceof BadRequest)) this.#options.log({ type: 'fault', error });
      })
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  /** Resolves when no sweep goes on, so that each job that this hub has claimed is started. */
  async swept(): Promise<void> {
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const now = await this.#store.now();
    const due: { gate: DetachedGate; entry: string; at: number }[] = [];
    let open = 0;
    for (const entry of await this.#store.entries()) {
      const gate = this.#heard(read(entry));
      if (isForgotten(gate, now)) {
        await this.#forget(gate, entry);
        continue;
      }
      if (isOpen(gate)) open += 1;
      const at = startAt(gate);
      if (at !== null && at <= now) due.push({ gate, entry, at });
    }
    this.open = open;
    const first = due.sort((a, b) => a.at - b.at).slice(0, mostStarts);
    await Promise.all(first.map(({ gate, entry }) => this.#start(gate, entry, now)));
  }

  /** Starts the job of a gate, unless another hub does. */
  async #start(gate: DetachedGate, entry: string, now: number): Promise<void> {
    const { startJob, log } = this.#options;
    if (startJob === null) return;
    const { id, repository } = gate;
    const claimed = started(gate, now);
    if (!(await this.#store.replace(id, entry, JSON.stringify(claimed), ''))) return;
    try {
      await startJob(gate);
      log({ type: 'job-started', id, repository });
    } catch (error) {
      log({ type: 'start-failed', id, repository, error });
      const isClaimed = ({ starts }: DetachedGate) =>
        starts.at === claimed.starts.at && starts.count === claimed.starts.count;
      await this.#change(id, (each, time) => (isClaimed(each) ? startFailed(each, gate, time) : each));
    }
  }

  /** Adds what deliveries have named. */
  #heard(gate: DetachedGate): DetachedGate {
    const times = gate.runs.map((run) => this.#options.wakes.lastNamed(run) ?? 0);
    return named(gate, Math.max(0, ...times));
  }

  async #forget(gate: DetachedGate, entry: string): Promise<void> {
    const { id, repository } = gate;
    const isRemoved = await this.#store.replace(id, entry, '', '');
    if (isRemoved && isOpen(gate)) this.#options.log({ type: 'gate-forgotten', id, repository });
  }

  /** Keeps a new gate, unless the request is repeated. */
  async #add({ job, ...request }: RegisterRequest): Promise<void> {
    const { id, repository, commit, context, ref, pull, order, kind, sealed } = request;
    const [kept] = await this.#store.get(id);
    if (kept !== '') {
      if (read(kept).lease?.job === job || read(kept).replacedBy !== null) return;
      throw refusal('leased');
    }
    await this.#makeRoom();
    const names = { id, repository, commit, context, ref, pull, order, kind };
    const gate = registered(names, request, job, await this.#store.now());
    if (!(await this.#store.replace(id, '', JSON.stringify(gate), sealed))) throw refusal('leased');
    this.#options.log({ type: 'gate-kept', id, repository, startsJobs: this.#options.startJob !== null });
  }

  /** Forgets the gate that was registered first of those that are no longer open, if there are too many. */
  async #makeRoom(): Promise<void> {
    const entries = await this.#store.entries();
    if (entries.length < mostGates) return;
    const closed = entries.map((entry) => ({ gate: read(entry), entry })).filter(({ gate }) => !isOpen(gate));
    const [oldest] = closed.sort((a, b) => a.gate.registeredAt - b.gate.registeredAt);
    if (oldest === undefined) throw new BadRequest(507, `the hub has ${mostGates} open gates`);
    await this.#forget(oldest.gate, oldest.entry);
  }

  /** Replaces a gate, if it is still open. @throws BadRequest (503) while a job may be setting its commit status */
  async #replace({ id }: DetachedGate, newer: DetachedGate): Promise<void> {
    const { replacedBy } = await this.#change(id, (gate, now) => {
      if (!replaces(gate, newer)) return gate;
      const after = replaced(gate, newer.id, now);
      if (after !== null) return after;
      const seconds = Math.min(longestRetryS, Math.ceil((gate.decidesUntil - now) / 1000));
      throw new BadRequest(503, 'an older gate is setting its commit status', {}, seconds);
    });
    if (replacedBy === newer.id) this.#options.log({ type: 'gate-replaced', id, by: newer.id });
  }

  async #all(): Promise<DetachedGate[]> {
    return (await this.#store.entries()).map(read);
  }

  async #sealed({ id, repository, commit, context }: DetachedGate): Promise<Omit<FetchResponse, 'overdue'>> {
    const [, sealed] = await this.#store.get(id);
    return { id, repository, commit, context, sealed };
  }

  /** Changes an entry by a rule, once more if it has changed meanwhile. @throws BadRequest if the rule refuses it */
  async #change(
    id: string,
    rule: (gate: DetachedGate, now: number) => DetachedGate | Refusal,
    sealed = '',
  ): Promise<DetachedGate> {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const now = await this.#store.now();
      const [entry] = await this.#store.get(id);
      if (entry === '') throw refusal('unknown');
      const gate = read(entry);
      const after = rule(gate, now);
      if (typeof after === 'string') throw refusal(after);
      if (after === gate) return gate;
      if (await this.#store.replace(id, entry, JSON.stringify(after), sealed)) return after;
    }
    throw new BadRequest(503, 'too many requests change this gate at once', {}, 1);
  }
}
