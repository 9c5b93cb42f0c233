import type { RungateError } from '../../errors.ts';
import type { SavedPlan } from '../../gate/plan/saved.ts';
import type { PlanState } from '../../gate/state.ts';
import type { EndEvent } from '../../library/reporter.ts';
import type { Chosen } from './choose.ts';

/** The state of a gate, as this command changes it. */
export interface Kept {
  /** Why it cannot be written any more. */
  problem(): RungateError | null;
  /** Resolves when all changes so far are written. */
  settled(): Promise<void>;
  save(edit: (state: SavedPlan) => void): Promise<void>;
}

/** The place of a gate's state between two commands, and what this command does there. */
export interface Keeping {
  chosen: Chosen;
  /** Whether a stop cancels the runs, unless an option says so; `SIGINT`: only Ctrl-C does. */
  stopCancels: false | 'SIGINT';
  /** Changes the state there, as `edit` changes it here. @throws RungateError */
  write(edit: (state: SavedPlan) => void): Promise<void>;
  /** Resolves when this command leaves the gate to the next one. */
  leaves(signal: AbortSignal, kept: Kept): Promise<void>;
  /** Hears of each state that has been written. */
  written?(plan: PlanState): void;
  begin?(): Promise<void>;
  /** Hears of each read that shows a run in progress. */
  read?(runId: string): void;
  /** The gate goes on after this command. @throws RungateError if no other one can continue it */
  left?(event: EndEvent): Promise<void>;
  /** @param left the runs that may go on; null for an unknown id */
  ended?(event: EndEvent, left: readonly (string | null)[]): Promise<void>;
  /** The command has failed, perhaps before the gate began. */
  failed?(): Promise<void>;
  close?(): Promise<void>;
}
