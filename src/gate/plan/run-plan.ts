import { RungateError, type StopCause, UnexpectedResponseError } from '../../errors.ts';
import type { Emit } from '../events.ts';
import type { HubLink, HubUser } from '../fleet/hub-link.ts';
import { newBudget } from '../fleet/turns.ts';
import type { GateTools } from '../gate.ts';
import { runWithRetries } from '../retries.ts';
import { goesOn } from '../start.ts';
import { subjectOf } from '../watched-run.ts';
import { type Halt, haltReason, inOrder, nextGates } from './graph.ts';
import {
  endedGate,
  failedStart,
  type GateOutcome,
  knownRuns,
  type PlanEvent,
  type PlannedGate,
  type PlanOptions,
  type PlanResult,
  skippedGate,
  unnamed,
  waitingGate,
} from './plan.ts';

export interface PlanTools extends Omit<GateTools, 'claim' | 'hub' | 'budget' | 'emit'> {
  emit?: ((event: PlanEvent) => void) | undefined;
  /** Opens a gate's link with the hub. */
  linkHub?(user: HubUser): HubLink | undefined;
}

/** Passes a stop on to the gates that are running, and to those that begin to listen afterwards. */
function stopper() {
  const listeners = new Set<(cause: StopCause) => void>();
  let cause: StopCause | null = null;
  return {
    stop(by: StopCause) {
      if (cause !== null) return;
      cause = by;
      for (const listener of listeners) listener(by);
    },
    onStop(listener: (by: StopCause) => void) {
      if (cause === null) listeners.add(listener);
      else listener(cause);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/**
 * Runs gates, each as soon as its needs are met. They share the connections and the limits of the service. A gate that cannot
 * start its run fails; the others go on.
 */
export async function runPlan(options: PlanOptions, tools: PlanTools): Promise<PlanResult> {
  const { failFast, ...shared } = options;
  const { emit, linkHub, ...common } = tools;
  const gates = inOrder(options.gates);
  const isNamed = gates.some(({ name }) => name !== unnamed);
  const budget = isNamed ? newBudget() : undefined;
  const { stop, onStop } = stopper();
  const outcomes = new Map<string, GateOutcome>();
  const running = new Map<string, Promise<void>>();
  /** The gate of each run. */
  const owners = new Map<string, string>();
  const bugs: unknown[] = [];
  let halt: Halt | null = null;
  let stoppedBy: StopCause | null = null;
  let cutShort = false;
  const halted = () => halt as Halt | null;

  const end = (outcome: GateOutcome) => {
    const { entry } = outcome;
    outcomes.set(entry.name, outcome);
    // After a bug or a mistake in the settings there is no result.
    if (isNamed && bugs.length === 0) emit?.({ type: 'gate', gate: entry.name, report: entry });
  };
  const giveUp = (failed: string) => {
    halt ??= { failed };
    stop('fail-fast');
  };

  /** One run cannot be the result of two gates: the service, or the pointer to the id, is wrong. */
  const claim = (name: string, runId: string) => {
    const owner = owners.get(runId) ?? name;
    owners.set(runId, owner);
    if (owner === name) return;
    throw new UnexpectedResponseError(
      `the service returned run ${runId} for gate ${name}, but that is the run of gate ${owner}`,
      {
        field: 'runId',
        expected: 'a new run',
        received: `the run of gate ${owner}`,
        hint: (say) => `if the id is elsewhere in the response, set ${say('run.idPointer')}`,
      },
    );
  };

  async function runOne(gate: PlannedGate): Promise<GateOutcome> {
    const { name, needs: _needs, advisory: _advisory, journal: _journal, ended: _ended, ...own } = gate;
    const emitOwn: Emit = (event) => emit?.(isNamed ? { ...event, gate: name } : event);
    emitOwn({ type: 'begun' });
    const onChange: HubUser['onChange'] = (error) => emitOwn({ type: 'hub', error });
    const subject = gate.start === undefined ? null : subjectOf(gate.start.body).name;
    const hub = linkHub?.({ name: isNamed ? name : subject, onChange });
    try {
      const report = await runWithRetries(
        { ...shared, ...own },
        {
          ...common,
          onStop,
          budget,
          hooks: tools.hooks?.ofGate(),
          claim: (runId) => claim(name, runId),
          emit: emitOwn,
          hub,
        },
      );
      const { interruptedBy } = report;
      if (interruptedBy !== undefined && interruptedBy !== 'fail-fast') cutShort = true;
      const cause = halted();
      return { report, entry: endedGate(gate, report, cause && haltReason(cause)) };
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      const known = { ...knownRuns(gate)[0], idempotencyKey: error.facts.idempotencyKey ?? null };
      return { error, entry: failedStart(gate, known, error) };
    } finally {
      hub?.close();
    }
  }

  async function runAndEnd(gate: PlannedGate): Promise<void> {
    try {
      const outcome = await runOne(gate);
      end(outcome);
      if (failFast && outcome.entry.result === 'fail') giveUp(gate.name);
    } catch (error) {
      // A bug: the runs of the other gates must not go on without a gate.
      bugs.push(error);
      giveUp(gate.name);
    } finally {
      running.delete(gate.name);
    }
  }

  const begun = new Set<string>();
  const begin = (gate: PlannedGate) => {
    begun.add(gate.name);
    running.set(gate.name, runAndEnd(gate));
  };
  const advance = () => {
    for (;;) {
      const results = new Map([...outcomes].map(([name, { entry }]) => [name, entry.result]));
      // The only gate begins even after a stop: its report has the state of its runs.
      const next = nextGates(gates, { begun, results, halt: isNamed ? halt : null });
      for (const gate of gates) if (next.begin.includes(gate.name)) begin(gate);
      for (const { name, reason, halted: byHalt } of next.skip) {
        if (byHalt && stoppedBy !== null) cutShort = true;
        const gate = gates.find((planned) => planned.name === name);
        if (gate !== undefined)
          end({ entry: byHalt && stoppedBy === 'slice' ? waitingGate(gate) : skippedGate(gate, reason) });
      }
      if (next.skip.length === 0) return;
    }
  };

  const unsubscribe = tools.onStop((by) => {
    // A gate that is failing early ends within seconds.
    if (by === 'slice' && halt !== null) return;
    stoppedBy = by;
    halt ??= { by };
    if (by !== 'slice') emit?.({ type: 'stopping', by });
    stop(by);
  });
  const ended = gates.flatMap((gate) => gate.ended ?? []);
  for (const entry of ended) {
    outcomes.set(entry.name, { entry });
    for (const { runId } of entry.runs) if (runId !== null) owners.set(runId, entry.name);
  }
  // A halt would skip the gates that go on, and nothing would cancel their runs.
  for (const gate of gates) if (gate.ended === undefined && goesOn(gate)) begin(gate);
  const failed = failFast ? ended.find(({ result }) => result === 'fail') : undefined;
  if (failed !== undefined) giveUp(failed.name);
  try {
    for (advance(); running.size > 0; advance()) await Promise.race(running.values());
  } finally {
    unsubscribe();
  }
  if (bugs.length > 0) throw bugs[0];
  return {
    outcomes: gates.flatMap(({ name }) => outcomes.get(name) ?? []),
    stoppedBy: cutShort ? stoppedBy : null,
    parts: tools.hooks?.report(),
  };
}
