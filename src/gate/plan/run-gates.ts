import { ContractError, RungateError, type StopCause } from '../../errors.ts';
import { commandNames } from '../../hint-names.ts';
import { type AttemptOptions, runAttempts } from '../attempts.ts';
import { newBudget } from '../budget.ts';
import type { DeployedCheck } from '../deployed/check.ts';
import type { GateEvent } from '../events.ts';
import type { HubLink } from '../fleet/hub-link.ts';
import type { GateTools } from '../gate.ts';
import { noteKey, type RunJournal, type Start } from '../start.ts';
import { subjectOf } from '../subject.ts';
import type { WatchedRun } from '../watched-run.ts';
import { inOrder, type PlanNode } from './graph.ts';
import { type Halt, haltReason, nextGates } from './progress.ts';
import {
  combineGates,
  endedGate,
  type GateResult,
  type GatesReport,
  skippedGate,
  unstartedGate,
} from './result.ts';

type OwnOptions = 'policy' | 'intervalMs' | 'maxAttempts' | 'timeoutMs' | 'retries';

/** A gate with the run that it creates and its rules. */
export interface PlannedGate extends PlanNode, Pick<AttemptOptions, OwnOptions> {
  start: Start;
  journal?: RunJournal | undefined;
}

export interface GatesOptions extends Omit<AttemptOptions, OwnOptions | 'start' | 'runIds' | 'names'> {
  /** In any order; the needs must have no problem. */
  gates: readonly PlannedGate[];
  /** Whether the first gate that fails cancels the others. */
  failFast: boolean;
}

/** An event of one of the gates, or of all of them. */
export type GatesEvent =
  | (GateEvent & { gate?: string })
  /** The gate has ended, or will never begin. */
  | { type: 'gate'; gate: string; result: GateResult };

export interface GatesTools
  extends Omit<GateTools, 'journal' | 'claim' | 'hub' | 'budget' | 'emit' | 'onWatch' | 'deployed'> {
  emit?: ((event: GatesEvent) => void) | undefined;
  /** Called with the runs of a gate that it waits for from now on. They change in place. */
  onWatch?: ((gate: string, runs: readonly WatchedRun[]) => void) | undefined;
  /** Opens a link with the hub for one gate; undefined without a hub. */
  openHub?(emit: (event: GateEvent) => void): Promise<{ link: HubLink; close(): Promise<void> } | undefined>;
  /** One check of the deployed build for all gates. */
  deployed?: DeployedCheck | undefined;
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
 * Runs gates, each as soon as its needs are met, and judges them together. They share the connections and the limits of the
 * service. A gate that cannot start its run fails; the others go on.
 */
export async function runGates(options: GatesOptions, tools: GatesTools): Promise<GatesReport> {
  const { failFast, ...shared } = options;
  const { emit, onWatch, openHub, ...common } = tools;
  const gates = inOrder(options.gates);
  const budget = newBudget();
  const { stop, onStop } = stopper();
  const results = new Map<string, GateResult>();
  const running = new Map<string, Promise<void>>();
  /** The gate of each run. */
  const owners = new Map<string, string>();
  const bugs: unknown[] = [];
  let halt: Halt | null = null;
  let stoppedBy: StopCause | null = null;
  let cutShort = false;
  const halted = () => halt as Halt | null;

  const end = (result: GateResult) => {
    results.set(result.name, result);
    // After a bug or a mistake in the settings there is no result.
    if (bugs.length === 0) emit?.({ type: 'gate', gate: result.name, result });
  };
  const giveUp = (failed: string) => {
    halt ??= { failed };
    stop('fail-fast');
  };

  /** One run cannot be the result of two gates: the service, or the pointer to the id, is wrong. */
  const claim = (name: string, runId: string, names = commandNames) => {
    const owner = owners.get(runId) ?? name;
    owners.set(runId, owner);
    if (owner === name) return;
    throw new ContractError(
      `the service returned run ${runId} for gate ${name}, but that is the run of gate ${owner}`,
      {
        ...{ field: 'runId', expected: 'a new run', received: `the run of gate ${owner}` },
        hint: `if the id is elsewhere in the response, set ${names.idPointer}`,
      },
    );
  };

  async function runOne(gate: PlannedGate): Promise<GateResult> {
    const { start, policy, intervalMs, maxAttempts, timeoutMs, retries, journal, name } = gate;
    const emitOwn = (event: GateEvent) => {
      // One message says that all gates stop.
      if (event.type !== 'stopping') emit?.({ ...event, gate: name });
    };
    const hub = await openHub?.(emitOwn);
    const noted = noteKey(journal);
    try {
      const { report } = await runAttempts(
        { ...shared, start, policy, intervalMs, maxAttempts, timeoutMs, retries },
        {
          ...common,
          onStop,
          budget,
          deployed: tools.deployed?.ofGate(),
          journal: noted.journal,
          claim: (runId) => claim(name, runId, start.names),
          emit: emitOwn,
          onWatch: (runs) => onWatch?.(name, runs),
          hub: hub?.link,
        },
      );
      const { interruptedBy } = report;
      if (interruptedBy !== undefined && interruptedBy !== 'fail-fast') cutShort = true;
      const cause = halted();
      return endedGate(gate, report, cause && haltReason(cause));
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      return unstartedGate(gate, { ...subjectOf(start.body), idempotencyKey: noted.lastKey() }, error);
    } finally {
      await hub?.close();
    }
  }

  async function runAndEnd(gate: PlannedGate): Promise<void> {
    try {
      const result = await runOne(gate);
      end(result);
      if (failFast && result.gate === 'fail') giveUp(gate.name);
    } catch (error) {
      // A bug: the runs of the other gates must not go on without a gate.
      bugs.push(error);
      giveUp(gate.name);
    } finally {
      running.delete(gate.name);
    }
  }

  const begun = new Set<string>();
  const advance = () => {
    for (;;) {
      const ended = new Map([...results].map(([name, { gate }]) => [name, gate]));
      const { begin, skip } = nextGates(gates, { begun, ended, halt });
      for (const name of begin) begun.add(name);
      for (const gate of gates) if (begin.includes(gate.name)) running.set(gate.name, runAndEnd(gate));
      for (const { name, reason, halted: byHalt } of skip) {
        if (byHalt && stoppedBy !== null) cutShort = true;
        const gate = gates.find((one) => one.name === name);
        if (gate !== undefined) end(skippedGate(gate, reason));
      }
      if (skip.length === 0) return;
    }
  };

  const unsubscribe = tools.onStop((by) => {
    stoppedBy = by;
    halt ??= { by };
    emit?.({ type: 'stopping', by });
    stop(by);
  });
  try {
    for (advance(); running.size > 0; advance()) await Promise.race(running.values());
  } finally {
    unsubscribe();
  }
  if (bugs.length > 0) throw bugs[0];
  const ordered = gates.flatMap(({ name }) => results.get(name) ?? []);
  return combineGates(ordered, cutShort ? stoppedBy : null, tools.deployed?.report());
}
