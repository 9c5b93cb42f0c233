import type { RungateError, StopCause } from '../errors.ts';

/** What a gate tells as it goes, in the order in which it happens. Times in milliseconds; texts of the service are as they came. */
export type GateEvent =
  /** The start waits for the gate's turn in its fleet. */
  | { type: 'turn'; waitMs: number }
  /** The create failed and is sent again, with the same key and the same bytes. */
  | { type: 'retry'; error: RungateError; waitMs: number }
  /** `reattached`: it is the run that an earlier attempt with the same key had started. */
  | { type: 'created'; runId: string; appUrl: string | null; reattached: boolean }
  /** The run had ended before its first status read and may be another job's: it is not judged, and another one is started. */
  | { type: 'discarded'; runId: string; appUrl: string | null; idempotencyKey: string }
  /** The state of a run was read; counts are only there to rely on once it has ended. `nextMs` is null after the last read. */
  | {
      type: 'read';
      runId: string;
      state: string | null;
      failed: number | null;
      blocked: number | null;
      appUrl: string | null;
      /** Reads that count so far: all but those answered 429. */
      attempts: number;
      nextMs: number | null;
    }
  /** A read failed; `nextMs` is null where there is no next one. */
  | { type: 'trouble'; runId: string; error: RungateError; attempts: number; nextMs: number | null }
  /** The run is in a state that the contract does not know; it counts as not ended. Told once. */
  | { type: 'unknown-state'; runId: string; state: string }
  /** The wait was aborted. */
  | { type: 'stopping'; by: StopCause }
  /** The service was asked to cancel the run; `error` where it did not take that. */
  | { type: 'cancelled'; runId: string; error: RungateError | null }
  /** Something that does not change the verdict, such as a journal that cannot be written; for people. */
  | { type: 'note'; message: string };

export type Emit = (event: GateEvent) => void;
