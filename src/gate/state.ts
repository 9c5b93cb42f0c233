import type { ErrorReport, StopCause } from '../errors.ts';
import type { Rules } from './limits.ts';
import type { Action, Verdict } from './policy.ts';

/** A failure as data, as results have it, and with what else the rules need. */
export interface ErrorData extends ErrorReport {
  exitCode: number;
}

/**
 * A failure that the machine itself finds, worded where it is shown. `same-run`: the service returned the run of another gate, or
 * one that had ended for every key. `late`: no run was created in time. `lost`: one may have been. `no-environment`: its
 * environment was not created in time. `not-deployed`: the expected build did not appear. `other-build`: another one did.
 * `build-unread`, `unread`: the version page, or the run, was never read.
 */
export type Reason =
  | 'same-run'
  | 'late'
  | 'lost'
  | 'no-environment'
  | 'not-deployed'
  | 'other-build'
  | 'build-unread'
  | 'unread';

/** Why a gate or a run has no better verdict. */
export type Why = ErrorData | Reason;

/** The user's decisions about a gate. Times in milliseconds. */
export interface GateRules extends Omit<Rules, 'maxAttempts' | 'retries'> {
  retries: number;
  /** The shortest interval that the service may request. */
  shortestMs: number;
  /** The maximum number of status reads; null if only the timeout limits them. */
  maxReads: number | null;
  cancelOnInterrupt: boolean | 'SIGINT';
  cancelOnTimeout: boolean;
  /** Whether the gate waits for the end of its run. Otherwise it ends as soon as it has one. */
  waits: boolean;
}

/**
 * Tells who may have used a key. `given`: the user gave it; the gate gets its run, ended or not. `random`: only this gate. `job`: only jobs that the CI does not distinguish from this one. `shared`: this job before its
 * re-run, too.
 */
export type Trust = 'given' | 'random' | 'job' | 'shared';

/** One link of the chain of keys. */
export interface KeyState {
  key: string;
  trust: Trust;
  /** This job has used it in another process, and has not seen its run end. */
  open: boolean;
  /** The request that creates the run has had its turn in the limits. */
  granted: boolean;
  /** The time of the first request with the key; null while no request can have started a run. */
  sentAt: number | null;
  /** The requests with the key, and those of them that may have started a run. */
  requests: number;
  unsure: number;
}

/** The end of a run, and why if it could not be observed. */
export interface Outcome {
  verdict: Exclude<Verdict, 'flaky'>;
  error: Why | null;
  /** The deadline or the number of reads ended the wait. */
  limit: boolean;
  /** The wait until the next read, if the deadline comes before it; otherwise null. */
  nextReadMs: number | null;
  /** The number of reads ended the wait, not the deadline. */
  readsUsed: boolean;
  /** The run has ended, whether or not its counts can be trusted. */
  ended: boolean;
}

export interface RunState {
  id: string;
  /** Null for a run that another command started. */
  key: string | null;
  /** The time of the request that found it, or of the start of the wait. */
  since: number;
  /** Whether an earlier request with the key started it; null if the service does not say. */
  replayed: boolean | null;
  /** An earlier request with the key has started it; null if that is unknown. */
  reattached: boolean | null;
  /** This gate has seen it in progress. */
  live: boolean;
  /** Status reads, without those that the rate limit refused. */
  reads: number;
  /** Failed reads in a row, and those of them that something else than the service answered. */
  failures: number;
  foreign: number;
  /** Connections that failed, which suggests a wrong address until something has responded. */
  addressFailures: number;
  responded: boolean;
  /** The factor of the interval after responses with 429; 1 by default. */
  stretch: number;
  /** The interval that the last good status requests, in milliseconds; null if it requests none. */
  paceMs: number | null;
  /** Wake-ups by the hub, and the reads that they have caused. */
  wakes: number;
  confirmations: number;
  /** The next read is one of them; and the last one was. */
  woken: boolean;
  readWoken: boolean;
  /** The time of the first read that did not find the run; null if none, or once it was found. */
  missingSince: number | null;
  /** The earliest time of the next read. */
  due: number;
  /** The end of the time for a clear read, if the gate does not wait; otherwise null. */
  readBy: number | null;
  /** The last good read has shown a state that the API does not list. */
  unknown: boolean;
  /** The error of the last read; null if it was good. */
  trouble: ErrorData | null;
  /** The last status that can be trusted. */
  seen: { state: string | null; failed: number | null; blocked: number | null } | null;
  appUrl: string | null;
  outcome: Outcome | null;
  /** The time of its outcome. */
  endedAt: number | null;
  cancel: 'no' | 'wanted' | 'accepted' | 'failed';
  /** The end of the time for the cancel; null if none is wanted. */
  cancelBy: number | null;
}

/** A run of the gate that does not decide alone. `mine`: it failed and was retried; otherwise it was passed over. */
export interface PastRun {
  run: RunState;
  /** Of its key. */
  trust: Trust;
  verdict: Outcome['verdict'];
  mine: boolean;
  /** Passed over, although it may have been this gate's: it failed, and was first read long after it was created. */
  late: boolean;
}

/** A judgement, made once. Everything that shows a gate reads it. `by`: the gate was stopped. A run that is only started has no verdict. */
export interface End {
  verdict: Verdict | null;
  action: Action;
  exitCode: number;
  by: StopCause | null;
  /** The name of the gate that it needed and that did not pass. */
  skippedFor: string | null;
  /** The index of the run that decides, of the earlier ones that are the gate's and the last one. */
  decides: number;
  /** The verdict of the last run; null without one. */
  last: Outcome['verdict'] | null;
  at: number;
}

export interface GateState {
  needs: string[];
  advisory: boolean;
  rules: GateRules;
  /** The number of the CI job, from 1, which a re-run increases; null if the CI does not count. */
  attempt: number | null;
  /** The wall time at which the gate began to wait; null while gates that it needs go on. */
  begunAt: number | null;
  /** The deployment that it tests responds, or it tests none. */
  reached: boolean;
  /** The wall time at which its timeout ends; null until the build is deployed and the deployment responds. */
  deadline: number | null;
  /** The link in use; null for runs that another command started. */
  key: KeyState | null;
  /** A random key for the end of the chain, chosen with the state; null once it is in use. */
  spare: string | null;
  /** The key of its environment in the plan; null without one. */
  environment: string | null;
  run: RunState | null;
  past: PastRun[];
  /** Good reads of the version page after the run's outcome. */
  pageReads: number;
  /** The time until which the version page may confirm the outcome. */
  confirmBy: number | null;
  /** The end of the one read that a gate gets that slept past its deadline, or past `confirmBy`. */
  lastReadBy: number | null;
  error: Why | null;
  end: End | null;
}

/** The version page of the deployed build, which all gates share. */
export interface PageState {
  /** Reads in a row that showed the expected build, before runs are created. */
  agreed: number;
  /** A read since the first create showed another build. */
  other: boolean;
  /** The wall time until which the build may appear; null until the first gate begins. */
  until: number | null;
  /** The earliest time of the next read; null until a status is read. */
  due: number | null;
  /** The error of the last read that failed. */
  error: ErrorData | null;
  timeoutMs: number;
}

/**
 * The environment of a preview deployment. `creating`: it may exist. `kept`: it was not deleted, perhaps since a run may go on in
 * it. `none`: when its gates had ended, there was none.
 */
export interface EnvironmentState {
  step: 'wanted' | 'creating' | 'ready' | 'failed' | 'deleting' | 'deleted' | 'kept' | 'none';
  error: ErrorData | null;
}

/** Everything that a plan of gates knows, as plain JSON. One gate is a plan of one. */
export interface PlanState {
  version: 1;
  failFast: boolean;
  /** In an order in which every gate comes after those it needs. */
  gates: Record<string, GateState>;
  page: PageState | null;
  environments: Record<string, EnvironmentState>;
  /** Whether a hub may wake the gates. */
  hub: boolean;
  /** Its commands may end before its gates do, and the timeouts begin with the gates: they include every wait. */
  sliced: boolean;
  /** A command has reported the end: runs are read again, and none is started. */
  reported: boolean;
  /** The cause that stopped the plan, and its time. */
  stop: Cause | null;
  /** The gate that failed first, with `failFast`. */
  halt: { gate: string; at: number } | null;
}

/** The members of the state that are wall times. */
export const timeNames: ReadonlySet<string> = new Set([
  ...['begunAt', 'deadline', 'confirmBy', 'lastReadBy', 'sentAt', 'since', 'missingSince', 'due'],
  ...['readBy', 'endedAt', 'cancelBy', 'until', 'at'],
]);

/** A cause that ends the gates that go on, and its time. */
export interface Cause {
  by: StopCause;
  at: number;
  /** As in `StopListener`. */
  orphaned?: boolean;
}

/** Returns the number of the gate's runs that have failed, and were retried. */
export const retriesIn = (past: readonly PastRun[]): number => past.filter(({ mine }) => mine).length;

/** Returns what stops the plan: with `failFast`, a gate that has failed. The end of a slice only leaves the gates. */
export function causeOf({ stop, halt }: PlanState): Cause | null {
  if (halt === null || (stop !== null && stop.by !== 'slice')) return stop;
  return { by: 'fail-fast', at: halt.at };
}

/** Returns what must be saved before anything else happens, if it has changed. The rest is only saved with it, and at the end. */
export function durable({ gates, environments, page }: PlanState): string {
  const facts = Object.values(gates).map(
    ({ attempt, begunAt, reached, deadline, key, spare, run, past, end }) => ({
      attempt,
      begunAt,
      reached,
      deadline,
      key,
      spare,
      run: run && [run.id, run.live, run.cancel],
      past,
      end,
    }),
  );
  return JSON.stringify([facts, environments, page?.other]);
}
