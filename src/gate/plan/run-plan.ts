import type { Clock } from '../../clock.ts';
import { type NameOf, RungateError, type StopListener } from '../../errors.ts';
import type { Event } from '../decide.ts';
import { type DeployedCheckOptions, type WatchedPage, watchPage } from '../deployed/watch-page.ts';
import type { EffectTools, LiveGate } from '../effect-tools.ts';
import { doWork } from '../effects.ts';
import type { Emit } from '../events.ts';
import type { HubLink, HubUser } from '../fleet/hub-link.ts';
import { newBudget } from '../fleet/turns.ts';
import { run as runMachine, type Tell } from '../runner.ts';
import { type SayTools, sayGate, sayKnown } from '../say.ts';
import type { RunService } from '../service.ts';
import { causeOf, type GateState, type PlanState } from '../state.ts';
import { mayGoOn } from '../steps.ts';
import { subjectOf, type WatchedRun } from '../watched-run.ts';
import { endOf, isEnded, leftBySlice, ownerOf, partsOf, previewsOf, stoppedBy } from './ends.ts';
import { type Entry, freshPlan, statesOf } from './fresh.ts';
import { inOrder } from './graph.ts';
import type { OutcomeTools } from './outcomes.ts';
import {
  type GateOutcome,
  type PlanEvent,
  type PlannedGate,
  type PlanOptions,
  type PlanResult,
  unnamed,
} from './plan.ts';
import type { PlanStore } from './saved.ts';

export interface PlanTools {
  service: RunService;
  clock: Clock;
  /** A number from 0 up to 1. */
  random(): number;
  /** Names options in errors. */
  nameOf: NameOf;
  /** Calls the listener when a person or the CI stops the gates. Returns a function that removes the listener. */
  onStop(listener: StopListener): () => void;
  emit?: ((event: PlanEvent) => void) | undefined;
  /** Opens a gate's link with the hub. */
  linkHub?: ((user: HubUser) => HubLink | undefined) | undefined;
  page?: DeployedCheckOptions | undefined;
  /** Undefined for gates that end with this command. */
  store?: PlanStore | undefined;
}

/** Runs gates, each as soon as its needs are met. A gate that cannot start its run fails; the others go on. */
export const runPlan = (options: PlanOptions, tools: PlanTools): Promise<PlanResult> =>
  new RunningPlan(options, tools).run();

interface Live extends LiveGate {
  stop: AbortController;
  /** The run of its last create. */
  lastRun: string | null;
}

class RunningPlan {
  readonly #options: PlanOptions;
  readonly #tools: PlanTools;
  readonly #gates: readonly PlannedGate[];
  readonly #isNamed: boolean;
  readonly #entries: readonly Entry[];
  readonly #lives: ReadonlyMap<string, Live>;
  readonly #page: WatchedPage | undefined;
  /** The runs as the live view shows them, by id. */
  readonly #watched = new Map<string, WatchedRun>();
  readonly #outcomes = new Map<string, GateOutcome>();
  /** Jumps of the wall clock change nothing while this process lives. */
  readonly #epoch: number;
  #state: PlanState;
  #openedBy: Event;

  constructor(options: PlanOptions, tools: PlanTools) {
    const { clock, store, linkHub } = tools;
    this.#options = options;
    this.#tools = tools;
    this.#gates = inOrder(options.gates);
    this.#isNamed = this.#gates.some(({ name }) => name !== unnamed);
    this.#epoch = store?.epoch ?? clock.now() - clock.monotonic();
    this.#entries = this.#gates.flatMap((gate) => statesOf(gate, options, this.#now()));
    this.#page = tools.page && watchPage(tools.page);
    const parts = {
      pageMs: this.#page?.timeoutMs ?? null,
      hub: linkHub !== undefined,
      sliced: store !== undefined,
    };
    this.#state = store?.plan ?? freshPlan(this.#entries, options, parts);
    const attempt = this.#entries[0]?.[2].attempt ?? null;
    this.#openedBy = store?.plan
      ? { type: 'resumed', attempt, behindMs: store.behindMs, isReported: store.isReported }
      : { type: 'time' };
    this.#lives = this.#openLives();
  }

  async run(): Promise<PlanResult> {
    const { clock, store } = this.#tools;
    const effectTools = this.#effectTools();
    const sayTools = this.#sayTools();
    const outcomeTools = this.#outcomeTools();
    try {
      this.#state = await runMachine(this.#state, this.#openedBy, {
        clock,
        now: this.#now,
        work: (effect, tell, signal) => doWork(effect, tell, signal, effectTools),
        save: async (plan) => store?.save(plan, this.#page?.seen()),
        say: (event, before, after) => {
          this.#say(event, before, after, sayTools);
          this.#endGates(after, outcomeTools);
        },
        listen: (tell) => this.#listen(tell),
      });
    } finally {
      for (const { hub } of this.#lives.values()) hub?.close();
    }
    const shown = leftBySlice(this.#state, this.#now());
    this.#endGates(shown, outcomeTools);
    return {
      outcomes: this.#gates.flatMap(({ name }) => this.#outcomes.get(name) ?? []),
      stoppedBy: stoppedBy(shown, this.#gates, this.#entries),
      parts: { ...partsOf(this.#state, this.#page), ...previewsOf(this.#state, this.#gates) },
    };
  }

  readonly #now = () => Math.floor(this.#epoch + this.#tools.clock.monotonic());
  readonly #monotonic = (at: number) => at - this.#epoch;
  readonly #gateOf = (name: string) => this.#lives.get(name) as Live;

  #openLives(): Map<string, Live> {
    const { emit, linkHub } = this.#tools;
    const links = new Map<PlannedGate, HubLink | undefined>();
    const open = ([name, gate]: Entry): [string, Live] => {
      const emitOwn: Emit = (event) => emit?.(this.#isNamed ? { ...event, gate: gate.name } : event);
      if (!links.has(gate)) {
        const subject = gate.start === undefined ? null : subjectOf(gate.start.body).name;
        const onChange = (error: RungateError | null) => emitOwn({ type: 'hub', error });
        links.set(gate, linkHub?.({ name: this.#isNamed ? gate.name : subject, onChange }));
      }
      const stop = new AbortController();
      const live: Live = {
        gate,
        emit: emitOwn,
        hub: links.get(gate),
        state: () => this.#state.gates[name] as GateState,
        stop,
        stopped: stop.signal,
        error: null,
        response: null,
        lastRun: null,
      };
      return [name, live];
    };
    return new Map(this.#entries.map(open));
  }

  #effectTools(): EffectTools {
    return {
      ...this.#tools,
      budget: newBudget(),
      limited: this.#isNamed || this.#entries.length > 1,
      monotonic: this.#monotonic,
      gateOf: this.#gateOf,
      usersOf: (key) =>
        this.#entries.flatMap(([name, , one]) => (one.environment === key ? [this.#gateOf(name)] : [])),
      watched: (runId) => this.#watched.get(runId) as WatchedRun,
      isAccepted: () => isAccepted(this.#state),
      cancelReason: async () => {
        const { by = 'timeout', orphaned } = causeOf(this.#state) ?? {};
        return this.#options.cancelReason(orphaned ? 'orphaned' : by);
      },
      readPage: async (confirms, signal) => {
        const [phase, end] = phaseOf(this.#state, confirms);
        return (await this.#page?.read(phase, end - this.#now(), signal)) ?? { build: null, error: null };
      },
      keep: (gate, error) => {
        if (!(error instanceof RungateError)) throw error;
        gate.error = error;
        return error;
      },
    };
  }

  #sayTools(): SayTools {
    return {
      gateOf: this.#gateOf,
      monotonic: this.#monotonic,
      now: this.#now,
      watched: this.#watched,
      nameOf: this.#tools.nameOf,
    };
  }

  #outcomeTools(): OutcomeTools {
    return {
      live: this.#gateOf,
      page: this.#page,
      parts: () => partsOf(this.#state, this.#page),
      hub: [...this.#lives.values()].some(({ hub }) => hub !== undefined),
      nameOf: this.#tools.nameOf,
      now: this.#now,
      ownerOf: (name) => ownerOf(this.#state, name, this.#gateOf(name).lastRun),
    };
  }

  /** Tells reporters what an event has changed. */
  #say(event: Event, before: PlanState, after: PlanState, tools: SayTools): void {
    this.#state = after;
    const isSaid = event.type === 'stop' && event.by !== 'slice' && event.by !== 'fail-fast';
    if (isSaid && before.stop === null)
      this.#tools.emit?.({ type: 'stopping', by: event.by, orphaned: event.orphaned });
    if (event.type === 'created') this.#gateOf(event.gate).lastRun = event.run;
    this.#sayKnownRuns(event, before, after, tools);
    this.#sayKept(before, after);
    for (const [name, gate] of Object.entries(after.gates)) {
      const earlier = before.gates[name];
      if (earlier !== undefined) sayGate(event, name, earlier, gate, tools);
      // The end of a slice looks for no run.
      if (![undefined, 'slice'].includes(causeOf(after)?.by)) this.#gateOf(name).stop.abort();
    }
  }

  /** Shows the runs that earlier commands started, when their gate begins or goes on. */
  #sayKnownRuns(event: Event, before: PlanState, after: PlanState, tools: SayTools): void {
    for (const gate of this.#gates) {
      const names = this.#entries.filter(([, of]) => of === gate).map(([name]) => name);
      const states = names.flatMap((name) => after.gates[name] ?? []);
      const [first = ''] = names;
      const begins = before.gates[first]?.begunAt === null || event === this.#openedBy;
      if (begins && states.some(({ begunAt, end, run }) => begunAt !== null && end === null && run !== null))
        sayKnown(states, this.#gateOf(first), tools);
    }
  }

  /** Names the runs that may go on in environments that are not deleted. */
  #sayKept(before: PlanState, after: PlanState): void {
    for (const [key, { step }] of Object.entries(after.environments)) {
      if (step !== 'kept' || before.environments[key]?.step === 'kept') continue;
      const users = this.#entries.filter(([, , { environment }]) => environment === key);
      const states = users.flatMap(([name]) => after.gates[name] ?? []).filter(mayGoOn);
      if (states.length === 0) continue;
      const runs = states.map(({ run, key: link }) => run?.id ?? String(link?.key));
      const baseUrl = users[0]?.[1].start?.environment?.baseUrl ?? '';
      this.#tools.emit?.({ type: 'environment', step: 'kept', key, baseUrl, error: null, runs });
    }
  }

  /** Keeps the outcomes of the gates that have ended, each once. */
  #endGates(plan: PlanState, tools: OutcomeTools): void {
    for (const gate of this.#gates) {
      const own = this.#entries
        .filter(([, of]) => of === gate)
        .map(([name]) => [name, plan.gates[name]] as const);
      if (this.#outcomes.has(gate.name) || !own.every(isEnded)) continue;
      const outcome = endOf(gate, own, plan, this.#isNamed, tools);
      this.#outcomes.set(gate.name, outcome);
      if (this.#isNamed) this.#tools.emit?.({ type: 'gate', gate: gate.name, report: outcome.entry });
    }
  }

  /** Reports stops, and what the hub says. */
  #listen(tell: Tell): () => void {
    const hubs = new Set([...this.#lives.values()].flatMap(({ hub }) => hub ?? []));
    const ends = [
      this.#tools.onStop((by, orphaned) => void tell({ type: 'stop', by, orphaned })),
      ...[...hubs].map((hub) => hub.onWake((run) => void tell({ type: 'woken', run }))),
    ];
    return () => {
      for (const end of ends) end();
    };
  }
}

/** Returns whether the service has accepted the credential: it has created a run. */
const isAccepted = ({ gates }: PlanState): boolean =>
  Object.values(gates).some(({ run, past }) => run !== null || past.length > 0);

/** Returns the phase of a read of the version page, and when the wait for it ends. */
function phaseOf(
  { gates, page }: PlanState,
  confirms: readonly string[],
): ['before' | 'during' | 'after', number] {
  const open = Object.values(gates).filter(({ begunAt, end }) => begunAt !== null && end === null);
  if (confirms.length > 0) {
    const ends = confirms.map((name) => gates[name]?.confirmBy ?? 0);
    return ['after', Math.max(...ends)];
  }
  if (open.some(({ run }) => run !== null)) return ['during', Number.POSITIVE_INFINITY];
  return ['before', page?.until ?? 0];
}
