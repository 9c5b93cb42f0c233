import type { RungateError } from '../errors.ts';
import type { Policy } from './policy.ts';
import type { Outcome } from './poll.ts';
import type { GateReport } from './result-types.ts';

/** A feature that takes part in a gate: the points at which the gate calls it. After an abort, a hook may throw the signal's reason. */
export interface GateHooks {
  /** Before the run is created. Returns the error of a gate that must not create one, or null. */
  beforeCreate(signal: AbortSignal): Promise<RungateError | null>;
  /** With each status read. Several reads at once may share the work. */
  withRead(signal: AbortSignal): Promise<void>;
  /** When the runs have their outcomes. */
  afterVerdicts(signal: AbortSignal): Promise<void>;
  /** Returns the outcome of a run, given its own one; null if a stop prevented the work after the verdicts. */
  judge(outcome: Outcome, policy: Policy): Outcome | null;
  report(): Partial<GateReport>;
  /** Returns the hooks for another run of the gate, which may delay its create for `leftMs` at most. */
  again(leftMs: number): GateHooks;
  /** Returns the hooks of one of several gates, which share the work before the create and with the reads. */
  ofGate(): GateHooks;
}
