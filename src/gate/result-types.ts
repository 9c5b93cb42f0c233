// Generated from result-schema.ts by `npm run generate`; do not edit. A test fails while it is stale.
import type { ErrorReport, StopCause } from '../errors.ts';
import type { GateResult } from '../gate/plan/graph.ts';
import type { Result, Verdict } from '../gate/policy.ts';

/** The subject of a run: the project and the process or tags that it tests. Unknown facts are null. */
export interface RunSubject {
  /** For reports, the same in each build: `shop / checkout`, `shop / smoke, nightly`. */
  name: string | null;
  /** The project's slug. */
  project: string | null;
  /** The process's slug; null for a run that was started by tags. */
  process: string | null;
  /** The tags that started the run; null for a run of a process. */
  tags: readonly string[] | null;
}

/** A read of the version page in the result of a gate. */
export interface VersionRead {
  /** RFC 3339. */
  at: string;
  /** Before the run is created, during the wait for the runs, or after their verdicts. */
  phase: 'before' | 'during' | 'after';
  /** The version without secrets, cut to 200 characters; untrusted. Null if the read failed. */
  text: string | null;
  /** Whether the version was the expected one. */
  matches: boolean;
  /** The reason why the read failed; null if it did not. */
  error: string | null;
}

/** The deployed build in the result of a gate. */
export interface DeployedReport {
  /** The URL of the version page, without its query. */
  url: string;
  /** The JSON pointer of the version; null if the whole page is the version. */
  pointer: string | null;
  /** The expected version that the page showed; before that, every one that would match, separated by ` or `. */
  expected: string;
  /** Whether the runs tested only the expected build; null if unknown. */
  matches: boolean | null;
  /** The first read, every change, and the last read. */
  reads: VersionRead[];
}

/** An environment that rungate created for a preview deployment. */
export interface PreviewReport {
  /** The environment's key, which the runs have as `environmentKey`. */
  environmentKey: string;
  /** The URL of the deployment, without its query. */
  baseUrl: string;
  /** Whether the environment was deleted. It stays if a run may still use it, or if deleting it failed. */
  deleted: boolean;
}

/** A run, with its verdict. Unknown facts are null. */
export interface RunReport {
  /** For reports, the same in each build: `shop / checkout`, `shop / smoke, nightly`. */
  name: string | null;
  /** The project's slug. */
  project: string | null;
  /** The process's slug; null for a run that was started by tags. */
  process: string | null;
  /** The tags that started the run; null for a run of a process. */
  tags: readonly string[] | null;
  /** Null if rungate was stopped before the service responded to the request that creates the run. */
  runId: string | null;
  /** The last known state, as the service names it. */
  state: string | null;
  /** Null if the wait was stopped before the run ended. */
  verdict: Verdict | null;
  /** The action of the policy on the verdict. */
  action: Result;
  /** The number of failed items. */
  failed: number | null;
  /** The number of blocked items. */
  blocked: number | null;
  /** The URL of the run's page; null if the service sent none. */
  appUrl: string | null;
  /** The number of status reads. */
  attempts: number;
  /** The time that the gate spent on the run, with three decimals. */
  elapsedSeconds: number;
  /** When the verdict was reached, RFC 3339; absent if there is none, or if creating the run failed. */
  endedAt?: string;
  /** The key of the request that created the run; null if the gate created none. */
  idempotencyKey: string | null;
  /** Whether an earlier request with the same key started the run, for example from this job before its re-run. Null if neither the service nor CI says. */
  reattached: boolean | null;
  /** The number of the retry that started the run. */
  retry?: number;
  /** The time until the next read, if the deadline came before that read. */
  nextReadSeconds?: number;
  /** The limit of status reads ended the wait, not the timeout. */
  attemptsExhausted?: true;
  /** The result of the request to cancel the run; absent if there was none. */
  cancellation?: 'requested' | 'failed';
  /** Whether the run decides the gate; only if `retries` started several. */
  decides?: boolean;
  /** A webhook caused the last read. */
  woken?: true;
  /** The gate is advisory: it warns where another one fails. */
  advisory?: true;
  /** Why the run could not be started or judged; absent if it was. */
  error?: ErrorReport;
}

/** A run that had ended before its first clear status read. It is not judged: another job, or this one before its re-run, may have started it. */
export interface DiscardedRun {
  /** The run's id. */
  runId: string;
  /** The URL of the run's page; null if the service sent none. */
  appUrl: string | null;
  /** The key of the request that found the run. */
  idempotencyKey: string;
  /** The verdict on a run, which the gate's policy turns into an action. */
  verdict: Verdict;
  /** A sentence for people: who may have started it, and how to tell such jobs apart. */
  reason: string;
}

/** `requested`: the service accepted the cancellation. `failed`: it did not, or that is unknown. `none`: rungate sent none. */
export type Cancellation = 'requested' | 'failed' | 'none';

/** The result of a gate. Its fields are public and covered by semantic versioning. */
export interface GateReport {
  /** The version of the document. Added fields do not change it; removed or changed fields do. */
  schemaVersion: 1;
  /** The worst action on the runs; `fail` if rungate was stopped or no run was started. */
  result: Result;
  /** The exit code of the command. */
  exitCode: number;
  /** Which build was deployed; absent if that was not checked. */
  deployed?: DeployedReport;
  /** The environments that rungate created; absent without a preview deployment. */
  previews?: PreviewReport[];
  /** The cause that ended the wait early; absent if there was none. */
  interruptedBy?: StopCause;
  /** With `next`: the start of the first slice, RFC 3339. */
  startedAt?: string;
  /** The command that continues the gate, as arguments: `rungate gate --resume <id>`; only with `--slice`, and absent once the gate has ended. */
  next?: readonly string[];
  /** The next step, for people; absent if there is none. */
  hint?: string;
  /** From the first to the last, with those that `retries` started. */
  runs: RunReport[];
  /** Runs that had ended before their first status read and may belong to another job; absent if there are none. */
  discarded?: DiscardedRun[];
  /** Whether the runs that had not ended were cancelled; absent if the wait was not stopped. */
  cancellation?: Cancellation;
}

/** The result of one gate of several. */
export interface NamedGateReport {
  /** The gate's name. */
  name: string;
  /** The result of one gate of several: `skipped` if it never began, `waiting` if a slice (`--slice`) ended before it did, otherwise the worst action on its runs. */
  result: GateResult;
  /** The exit code that the gate adds to the result; null if it was skipped or stopped, or has not ended. */
  exitCode: number | null;
  /** The gates that had to pass before this one started. */
  needs: string[];
  /** Whether the gate warns where another one fails. */
  advisory: boolean;
  /** Why the gate was skipped, or stopped before its end; null for any other gate. */
  reason: string | null;
  /** From the first to the last, with those that `retries` started. */
  runs: RunReport[];
  /** Runs that had ended before their first status read and may belong to another job; absent if there are none. */
  discarded?: DiscardedRun[];
  /** Whether the runs that had not ended were cancelled; absent if the wait was not stopped. */
  cancellation?: Cancellation;
  /** Why no run could be started; absent if one was. */
  error?: ErrorReport;
}

/** The result of several gates. Its fields are public and covered by semantic versioning. */
export interface GatesReport {
  /** The version of the document. Added fields do not change it; removed or changed fields do. */
  schemaVersion: 1;
  /** The worst action on the runs; `fail` if rungate was stopped or no run was started. */
  result: Result;
  /** The exit code of the command. */
  exitCode: number;
  /** Which build was deployed; absent if that was not checked. */
  deployed?: DeployedReport;
  /** The environments that rungate created; absent without a preview deployment. */
  previews?: PreviewReport[];
  /** The cause that ended the wait early; absent if there was none. */
  interruptedBy?: StopCause;
  /** With `next`: the start of the first slice, RFC 3339. */
  startedAt?: string;
  /** The command that continues the gate, as arguments: `rungate gate --resume <id>`; only with `--slice`, and absent once the gate has ended. */
  next?: readonly string[];
  /** The next step, for people; absent if there is none. */
  hint?: string;
  /** Every gate comes after its dependencies. */
  gates: NamedGateReport[];
  /** Whether the runs that had not ended were cancelled; absent if the wait was not stopped. */
  cancellation?: Cancellation;
}

/** A run that was started or found again: the shape that `rungate run trigger --json` prints, with `reattached`. */
export interface StartedRun {
  /** The version of the document. Added fields do not change it; removed or changed fields do. */
  schemaVersion: 1;
  /** For reports, the same in each build: `shop / checkout`, `shop / smoke, nightly`. */
  name: string | null;
  /** The project's slug. */
  project: string | null;
  /** The process's slug; null for a run that was started by tags. */
  process: string | null;
  /** The tags that started the run; null for a run of a process. */
  tags: readonly string[] | null;
  /** The run's id. */
  runId: string;
  /** The URL of the run's page; null if the service sent none. */
  appUrl: string | null;
  /** The key of the request that created the run. */
  idempotencyKey: string;
  /** Whether an earlier request with the same key started the run, for example from this job before its re-run. Null if neither the service nor CI says. */
  reattached: boolean | null;
  /** Runs that had ended before their first status read and may belong to another job; absent if there are none. */
  discarded?: DiscardedRun[];
  /** The response of the service, whose fields are not specified; null if it was empty. */
  response: unknown;
}
