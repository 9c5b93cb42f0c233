import type { TriggerBody } from '../contract/run.ts';
import type { RungateError, StopCause } from '../errors.ts';
import type { DiscardedRun } from './result-types.ts';
import type { PastRun, Trust } from './state.ts';
import type { WatchedRun } from './watched-run.ts';

/** The idempotency key of a gate's first run. */
export interface KeyStep {
  key: string;
  trust: Trust;
  /** This job has used it, and has not seen its run end. */
  open?: true | undefined;
  /** The gate's runs under the keys before it. */
  past?: readonly PastRun[] | undefined;
}

/** The idempotency keys of a gate: the first one, and what the others follow from. Plain JSON. */
export interface KeyChain {
  link: KeyStep;
  /** 1, or more in a re-run of the job; null if the CI does not count them. */
  attempt: number | null;
  /** The random key at the end; null if the chain has none. */
  spare: string | null;
}

/** Records the runs that this job starts, so they can be found again even after a crash. */
export interface RunJournal {
  /** Called before the request is sent. `past`: the gate's runs under the keys before it. */
  triggering(key: string, past: readonly PastRun[], body: TriggerBody): void;
  created(key: string, runId: string): void;
  /** Called when the job is done with the run: it has ended, or nothing waits for it. */
  settled(runId: string): void;
  /**
   * Called before the request that creates the environment of a preview deployment, and with each step from there on.
   * @param baseUrl without its query
   */
  environment(key: string, step: Exclude<EnvironmentStep, 'kept'>, baseUrl: string): void;
}

/**
 * `creating`: the request that creates the environment is sent next. `found`: the job created it before its re-run.
 * `kept`: it was not deleted.
 */
export type EnvironmentStep = 'creating' | 'created' | 'found' | 'deleted' | 'kept';

/** An event of a gate, emitted as it happens. Times in milliseconds. The texts of the service are untrusted; reporters get them without secrets. */
export type GateEvent =
  /** Creating the run failed and is retried with the same key and the same bytes. */
  | {
      type: 'retry';
      /** Why the request failed. */
      error: RungateError;
      /** The time until the next request. */
      waitMs: number;
      /** The time for which creating the run is retried at most. */
      leftMs: number;
      /** How many more requests the service gets, if its address is probably wrong. */
      leftRequests?: number | undefined;
    }
  | {
      type: 'created';
      /** The run's id. */
      runId: string;
      /** The URL of the run's page; null if the service sent none. */
      appUrl: string | null;
      /** Whether an earlier request with the same key started the run; null if that is unknown. */
      reattached: boolean | null;
    }
  /** The run had ended before its first clear status read, so another job may have started it. The gate starts another run instead. */
  | ({ type: 'discarded' } & DiscardedRun)
  /** The run failed, so the gate starts another one. */
  | {
      type: 'next-run';
      /** The id of the run that failed. */
      runId: string | null;
      /** The number of failed items; null if unknown. */
      failed: number | null;
      /** The number of blocked items; null if unknown. */
      blocked: number | null;
      /** The number of the retry that begins. */
      retry: number;
      /** The maximum number of retries. */
      retries: number;
    }
  /** The state of a run was read. */
  | {
      type: 'read';
      /** The run's id. */
      runId: string;
      /** The state, as the service names it; null if unknown. */
      state: string | null;
      /** The number of failed items, which is final only once the run has ended; null if unknown. */
      failed: number | null;
      /** The number of blocked items, which is final only once the run has ended; null if unknown. */
      blocked: number | null;
      /** The URL of the run's page; null if the service sent none. */
      appUrl: string | null;
      /** The reads so far, without those that got a 429. */
      attempts: number;
      /** The time until the next read; null after the last one. */
      nextMs: number | null;
      /** Whether a webhook caused the read. */
      woken: boolean;
    }
  /** A read failed. */
  | {
      type: 'trouble';
      /** The run's id. */
      runId: string;
      /** Why the read failed. */
      error: RungateError;
      /** The reads so far, without those that got a 429. */
      attempts: number;
      /** The time until the next read; null after the last one. */
      nextMs: number | null;
    }
  /** The run is in a state that the API does not list. It counts as not ended. Emitted once. */
  | {
      type: 'unknown-state';
      /** The run's id. */
      runId: string;
      /** The state, as the service names it. */
      state: string;
    }
  /** The version page was read. */
  | {
      type: 'deployed';
      /** Before the run is created, during the wait for the runs, or after their verdicts. */
      phase: 'before' | 'during' | 'after';
      /** The text that it showed, without secrets, and cut to 200 characters; null if the read failed. */
      text: string | null;
      /** The expected version that it is; null for any other. */
      version: string | null;
      /** Whether it showed the expected version. */
      matches: boolean;
      /** Whether the reads before it did, too, so that the gate creates its run now. */
      agreed: boolean;
      /** Why the read failed; null if it did not. */
      error: RungateError | null;
    }
  /** The hub is lost or was never there, so the gate polls by itself, or it is back. */
  | {
      type: 'hub';
      /** Why the hub is not used; null when it is back. */
      error: RungateError | null;
    }
  /** The environment of a preview deployment (`preview.baseUrl`). */
  | {
      type: 'environment';
      /** The step that was taken. */
      step: EnvironmentStep;
      /** The environment's key. */
      key: string;
      /** The URL of the deployment, without its query. */
      baseUrl: string;
      /** Why it was not deleted; null in any other step. */
      error: RungateError | null;
      /** The runs for which it stays, since they may go on. */
      runs: readonly string[];
    }
  /** The wait was aborted. */
  | {
      type: 'stopping';
      /** The cause of the abort. */
      by: StopCause;
      /** No signal came, but the process that started rungate has ended. */
      orphaned?: boolean | undefined;
    }
  /** The gate requested the cancellation of the run. */
  | {
      type: 'cancelled';
      /** The run's id. */
      runId: string;
      /** Why the request failed; null if it did not. */
      error: RungateError | null;
    }
  /** A message for people that does not change the verdict, such as a journal that cannot be written. */
  | {
      type: 'note';
      /** The message. */
      message: string;
    };

/** An event for the reporters of rungate itself, which `onProgress` does not have. */
export type InnerEvent =
  /** The gate waits for these runs from now on, which change in place. */
  | { type: 'watch'; runs: readonly WatchedRun[] }
  /** The request that creates a run is sent next. */
  | { type: 'triggering'; key: string; past: readonly PastRun[]; body: TriggerBody }
  /** The response names the run. */
  | { type: 'received'; key: string; runId: string }
  /** The gate is done with the run: it has ended, or nothing waits for it. */
  | { type: 'settled'; runId: string };

export type Emit = (event: GateEvent | InnerEvent) => void;
