import type { Exchange } from '../../client/caller.ts';
import { type RungateError, reportError, type StopCause } from '../../errors.ts';
import { exitCodeOf, exitCodeOfSignal, exitCodes, mostSevere } from '../../exit.ts';
import type { GateEvent, InnerEvent } from '../events.ts';
import type { Rules } from '../limits.ts';
import { advised, worst } from '../policy.ts';
import { haltError, reportUncreated, type Suite, type SuitesReport, skippedRun } from '../report.ts';
import type {
  Cancellation,
  DiscardedRun,
  GateReport,
  GatesReport,
  NamedGateReport,
  RunReport,
  RunSubject,
} from '../result-types.ts';
import type { Start } from '../start.ts';
import { named, subjectOf } from '../watched-run.ts';
import type { PlanNode } from './graph.ts';

/** The name of a gate that is the only one and has none. Its events name no gate. */
export const unnamed = '';

interface Planned<Settings> extends PlanNode {
  rules: Rules;
  /** Those that the rules come from. */
  settings: Settings;
  /** Whether it waits for the end of its run; default true. */
  waits?: boolean | undefined;
  /** It has ended in an earlier slice. */
  ended?: boolean | undefined;
  /** An earlier slice has begun it. */
  isResumed?: boolean | undefined;
}

export interface StartingGate<Settings = unknown> extends Planned<Settings> {
  start: Start;
  runIds?: undefined;
  names?: undefined;
}

interface GateOfRuns<Settings> extends Planned<Settings> {
  start?: undefined;
  runIds: readonly string[];
  /** Names for the runs, in the same order. The name of a run without one is its id. */
  names?: readonly string[] | undefined;
}

/** A gate, and the run that it starts or the existing runs that it waits for. */
export type PlannedGate<Settings = unknown> = StartingGate<Settings> | GateOfRuns<Settings>;

export interface PlanOptions {
  /** Several gates in any order, whose needs have no problem; or one without a name. */
  gates: readonly PlannedGate[];
  /** Whether the first gate that fails cancels the others. */
  failFast: boolean;
  /** The shortest wait between two reads that the service may request. */
  shortestMs: number;
  /** Whether a stop cancels the runs; `SIGINT`: only Ctrl-C does. The end of a slice never cancels. */
  cancelOnInterrupt: boolean | 'SIGINT';
  cancelOnTimeout: boolean;
  cancelReason(why: StopCause | 'timeout' | 'orphaned'): string | Promise<string>;
}

/** An event of one of the gates, or of all of them. */
export type GatesEvent =
  | (GateEvent & {
      /** The gate's name; absent if the event is about all gates. */
      gate?: string;
    })
  /** The gate has ended, or will never begin. */
  | {
      type: 'gate';
      /** The gate's name. */
      gate: string;
      /** Its result. */
      report: NamedGateReport;
    };

export type PlanEvent = GatesEvent | (InnerEvent & { gate?: string });

/** The end of one gate: the report of its runs, or why it has none. */
export interface GateOutcome {
  entry: NamedGateReport;
  report?: GateReport;
  /** The response that has named its last run. */
  response?: Exchange | null;
  /** Why no run could be started. */
  error?: RungateError;
}

/** The result of a plan, as `oneGate` and `severalGates` show it. */
export interface PlanResult {
  /** Every gate comes after its dependencies. */
  outcomes: readonly GateOutcome[];
  /** The signal that stopped rungate before every gate had ended, or null. */
  stoppedBy: StopCause | null;
  /** The parts of the report that are about all gates. */
  parts: Partial<GateReport> | undefined;
}

/** Returns the report of the only gate. @throws the error of a gate that could not start a run */
export function oneGate({ outcomes: [outcome], parts: { previews } = {} }: PlanResult): GateReport {
  if (outcome?.report === undefined) throw outcome?.error;
  return { ...outcome.report, ...(previews !== undefined && { previews }) };
}

export const severalGates = ({ outcomes, stoppedBy, parts }: PlanResult): GatesReport =>
  combineGates(
    outcomes.map(({ entry }) => entry),
    stoppedBy,
    parts,
  );

/** Returns what is known about the runs of a gate before anything is sent. */
export function knownRuns({
  start,
  runIds = [],
  names = [],
}: PlannedGate): (RunSubject & { runId?: string })[] {
  if (start !== undefined) return [subjectOf(start.body)];
  return runIds.map((runId, index) => ({ runId, ...named(names[index]) }));
}

const nodeFacts = ({ name, needs, advisory }: PlanNode) => ({ name, needs: [...needs], advisory });

/** An advisory gate warns instead of failing. A bug in rungate is never only a warning. */
function advisedGate(gate: NamedGateReport): NamedGateReport {
  if (!gate.advisory || gate.result !== 'fail' || gate.exitCode === exitCodes.bug) return gate;
  const runs = gate.runs.map(
    (run): RunReport =>
      run.action === 'fail' ? { ...run, action: advised(run.action), advisory: true } : run,
  );
  const exitCode = gate.exitCode === null ? null : exitCodes.ok;
  return { ...gate, result: advised(gate.result), exitCode, runs };
}

/** @param stopped why rungate stopped the gate before its end, if another gate failed or a signal came */
export function endedGate(node: PlanNode, report: GateReport, stopped: string | null): NamedGateReport {
  const { schemaVersion: _version, deployed: _deployed, result, exitCode, interruptedBy, ...parts } = report;
  const cutShort = interruptedBy !== undefined;
  // Without a run nothing was tested.
  const empty = report.runs.length === 0 && !cutShort;
  return advisedGate({
    ...nodeFacts(node),
    result: empty ? 'fail' : result,
    exitCode: cutShort ? null : empty ? exitCodes.bug : exitCode,
    reason: cutShort && result !== 'waiting' ? stopped : null,
    ...parts,
  });
}

/**
 * Returns the report of a gate that could not start a run. No policy lets it pass.
 * @param known the facts about the run, with its idempotency key, by which a lost run can be found
 * @param discarded the runs that were found before
 */
export function failedStart(
  node: PlanNode,
  known: Partial<RunReport>,
  error: RungateError,
  discarded: DiscardedRun[] = [],
): NamedGateReport {
  const report = { ...reportUncreated([known], error), ...(discarded.length > 0 && { discarded }) };
  return { ...endedGate(node, report, null), error: reportError(error) };
}

/** Returns the report of gates none of which could begin, for the same reason. It fails even if all of them are advisory. */
export function unstartedGates(plan: readonly PlannedGate[], error: RungateError): GatesReport {
  const gates = plan.map((gate) => failedStart(gate, knownRuns(gate)[0] ?? {}, error));
  return { ...combineGates(gates, null), result: 'fail', exitCode: exitCodeOf(error) };
}

/** Returns the report of a gate that begins after the end of a slice. */
export function waitingGate(node: PlanNode): NamedGateReport {
  return { ...nodeFacts(node), result: 'waiting', exitCode: null, reason: null, runs: [] };
}

export function skippedGate(node: PlanNode, reason: string): NamedGateReport {
  return { ...nodeFacts(node), result: 'skipped', exitCode: null, reason, runs: [] };
}

function cancellationOf(gates: readonly NamedGateReport[]): Cancellation {
  const all = gates.flatMap(({ cancellation }) => cancellation ?? []);
  return (['failed', 'requested'] as const).find((cancellation) => all.includes(cancellation)) ?? 'none';
}

/** @param stoppedBy what stopped rungate before every gate had ended, or null */
export function combineGates(
  gates: readonly NamedGateReport[],
  stoppedBy: StopCause | null,
  parts: Pick<GateReport, 'deployed' | 'previews'> = {},
): GatesReport {
  const worstCode = mostSevere(gates.map(({ exitCode }) => exitCode ?? exitCodes.ok));
  const isMet = ({ result, advisory }: NamedGateReport) => advisory || result === 'pass' || result === 'warn';
  const met = gates.length > 0 && gates.every(isMet);
  // A gate that is skipped or stopped follows from one that failed, or from a stop. If not, the result still fails.
  const sure = worstCode === exitCodes.ok && !met ? exitCodes.bug : worstCode;
  const exitCode = stoppedBy === null ? sure : exitCodeOfSignal(stoppedBy);
  const actions = gates.map(({ result }) => (result === 'skipped' ? 'warn' : result));
  const stopped = gates.some((gate) => gate.cancellation !== undefined) || stoppedBy !== null;
  return {
    schemaVersion: 1,
    result: exitCode === exitCodes.ok ? worst(actions) : stoppedBy === 'slice' ? 'waiting' : 'fail',
    exitCode,
    gates: [...gates],
    ...parts,
    ...(stoppedBy !== null && { interruptedBy: stoppedBy }),
    ...(stopped && { cancellation: cancellationOf(gates) }),
  };
}

/**
 * Returns the result as that of one gate with all runs, for reports that list runs. Their names begin with those of the gates.
 * Each gate that was skipped has an entry with the name that its run would have, so that every build has the same names.
 */
export function flatReport({ gates, ...report }: GatesReport, plan: readonly PlannedGate[]): SuitesReport {
  const subjects = new Map(plan.map((gate) => [gate.name, knownRuns(gate)[0]]));
  const suites = gates.map((gate): Suite => {
    const { name, result, reason, exitCode } = gate;
    const titled = <Run extends RunSubject>(run: Run): Run => ({ ...run, name: `${name}: ${run.name}` });
    const ended = (run: RunReport): RunReport => ({
      ...titled(run),
      ...(run.verdict === null && reason !== null && { error: haltError('stopped', reason) }),
    });
    const subject = subjects.get(name);
    const entry = subject === undefined ? named(name) : titled(subject);
    // A run without an id was stopped before it was created.
    const runs =
      result === 'skipped' || gate.runs.length === 0
        ? [skippedRun(entry, reason ?? (result === 'skipped' ? '' : 'rungate was stopped'))]
        : gate.runs.map(ended);
    return {
      name,
      report: {
        schemaVersion: 1,
        result: result === 'skipped' ? 'fail' : result,
        runs,
        // A gate that was skipped or stopped adds no exit code.
        exitCode: exitCode ?? report.exitCode,
      },
    };
  });
  const runs = suites.flatMap((suite) => suite.report.runs);
  return { ...report, runs, suites };
}
