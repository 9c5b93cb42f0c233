import type { RungateError, StopCause } from '../../errors.ts';
import type { AttemptsOptions } from '../attempts.ts';
import type { GateEvent, InnerEvent } from '../events.ts';
import type { RunJournal } from '../keys.ts';
import type { GateReport, GatesReport, NamedGateResult } from '../result-types.ts';
import { combineGates, type GateRuns } from './result.ts';

/** The name of a gate that is the only one and has none. Its events name no gate. */
export const unnamed = '';

type OwnOptions =
  | 'start'
  | 'runIds'
  | 'names'
  | 'policy'
  | 'intervalMs'
  | 'maxAttempts'
  | 'timeoutMs'
  | 'retries';

export interface PlannedGate extends Pick<AttemptsOptions, OwnOptions>, GateRuns {
  start?: AttemptsOptions['start'];
  journal?: RunJournal | undefined;
}

export interface PlanOptions extends Omit<AttemptsOptions, OwnOptions> {
  /** Several gates in any order, whose needs have no problem; or one without a name. */
  gates: readonly PlannedGate[];
  /** Whether the first gate that fails cancels the others. */
  failFast: boolean;
}

/** An event of one of the gates, or of all of them. */
export type GatesEvent =
  | (GateEvent & { gate?: string })
  /** The gate has ended, or will never begin. */
  | { type: 'gate'; gate: string; result: NamedGateResult };

export type PlanEvent = GatesEvent | (InnerEvent & { gate?: string });

/** The end of one gate: the report of its runs, or why it has none. */
export interface GateOutcome {
  result: NamedGateResult;
  report?: GateReport;
  /** Why no run could be started. */
  error?: RungateError;
}

/** The result of a plan, as `oneGate` and `severalGates` show it. */
export interface PlanResult {
  /** In an order in which every gate comes after those that it needs. */
  outcomes: readonly GateOutcome[];
  /** The signal that stopped rungate before every gate had ended, or null. */
  stoppedBy: StopCause | null;
  /** The parts of the report that are about all gates. */
  parts: Partial<GateReport> | undefined;
}

/** Returns the report of the only gate. @throws the error of a gate that could not start a run */
export function oneGate({ outcomes: [outcome] }: PlanResult): GateReport {
  if (outcome?.report === undefined) throw outcome?.error;
  return outcome.report;
}

export const severalGates = ({ outcomes, stoppedBy, parts }: PlanResult): GatesReport =>
  combineGates(
    outcomes.map(({ result }) => result),
    stoppedBy,
    parts,
  );
