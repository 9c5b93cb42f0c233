import { HttpError, NetworkError, type RungateError } from '../errors.ts';
import {
  type Failure,
  failureOf,
  foreignLimit,
  isAddressFailure,
  isLimit,
  saysEnded,
} from './failed-read.ts';
import { type Verdict, verdictOf } from './policy.ts';
import type { StatusReading } from './run-status.ts';

/** The limits and the intervals of a wait. Times in milliseconds; `deadline` on the monotonic clock. */
export interface PollRules {
  intervalMs: number;
  /** The maximum number of status reads; Infinity if only the deadline limits them. */
  maxAttempts: number;
  deadline: number;
  /** The shortest wait that the service may request; default 1 s. */
  shortestMs?: number | undefined;
  /**
   * When the gate created the run, on the monotonic clock: the service has accepted the credential, and the run may not be
   * visible at once. Null if another command created it.
   */
  createdAt: number | null;
  /** A hub may wake the gate before the time of the next read: only the deadline ends the wait. */
  hub?: boolean | undefined;
  /** No read follows this one. */
  isLast?: boolean | undefined;
}

/** The state of polling one run, between two reads. */
export interface Progress {
  /** Status reads, without those that got a 429 and one that the deadline cut. */
  attempts: number;
  /** Failed reads in a row. */
  failures: number;
  /** Foreign responses in a row. */
  foreign: number;
  /** The time of the first 404 since the last valid status, on the monotonic clock. */
  missingSince: number | null;
  /** Connections that failed before the service ever responded, which suggests a wrong address. */
  addressFailures: number;
  responded: boolean;
  /** The factor of the interval after responses with 429; 1 by default. */
  stretch: number;
  /** A read has shown the run in progress, so it had not ended before the first read. */
  inProgress: boolean;
  /** The last valid status. */
  seen: StatusReading | null;
  /** The error of the last read; null if it succeeded. */
  trouble: RungateError | null;
}

/**
 * Which limit ended a wait. `nextReadMs`: the time until the next read, if the deadline comes before it.
 * `attemptsExhausted`: the limit of status reads, not the deadline.
 */
interface LimitReached {
  nextReadMs?: number;
  attemptsExhausted?: true;
}

export type RunOutcome =
  | ({ verdict: Exclude<Verdict, 'flaky' | 'unobserved' | 'mismatch'>; limit?: boolean } & LimitReached)
  /** `limit`: the wait ended at the deadline or the limit of status reads, not at an error that cannot pass. */
  | { verdict: 'unobserved' | 'mismatch'; cause: RungateError; limit?: boolean };

export type Decision = { done: RunOutcome } | { waitMs: number };

/** A valid status, or the error of the read. `retryAfterMs` comes from the `Retry-After` header. */
export type ReadResult =
  | { reading: Exclude<StatusReading, { kind: 'broken' }>; retryAfterMs?: number | undefined }
  | { error: RungateError };

/** A new run may be invisible for this long. */
const invisibleMs = 60_000;
/** The shortest time between two 404s that end the wait. */
const missingMs = 10_000;
/** The number of failed connections, without any response, after which the address counts as wrong. */
const addressFailureLimit = 4;
const shortestAfterFailureMs = 1000;
const firstBackoffMs = 500;
/** The longest duration of a last read. */
export const lastReadMs = 10_000;
/** A wait that is this late was not late because of a busy machine. */
const oversleptMs = 1000;
const longestIntervalMs = 30 * 60_000;
/** The largest random share added to a wait. It is larger after a 429, since many clients get the same `Retry-After`. */
const jitter = { usual: 0.1, limited: 0.5 } as const;

/** At this interval, about a hundred runs at once stay within the limit on reads. */
const longestFirstIntervalMs = 150_000;

/**
 * Returns the factor of the interval for a run whose create the rate limit delayed by `limitedMs`. The service accepted 20
 * creates a minute in the meantime, and the reads of their runs share one limit.
 */
export function stretchAfter(limitedMs: number, intervalMs: number): number {
  return Math.max(1, Math.min(longestFirstIntervalMs, (2 / 3) * limitedMs) / intervalMs);
}

/** @param stretch from `stretchAfter` for the run's create */
export function firstProgress(stretch = 1): Progress {
  return {
    attempts: 0,
    failures: 0,
    foreign: 0,
    missingSince: null,
    addressFailures: 0,
    responded: false,
    stretch,
    inProgress: false,
    seen: null,
    trouble: null,
  };
}

function endsWait(failure: Failure, progress: Progress, { createdAt }: PollRules, now: number): boolean {
  const { seen, foreign, missingSince, addressFailures, responded, trouble } = progress;
  const isNew = createdAt !== null && now - createdAt < invisibleMs;
  // Some services send no JSON with it.
  const isMissing = trouble instanceof HttpError && trouble.status === 404;
  switch (failure) {
    case 'missing':
      return !isNew && now - (missingSince ?? now) >= missingMs;
    case 'foreign':
      return (foreign >= foreignLimit && !(isNew && isMissing)) || (createdAt === null && seen === null);
    case 'outage':
      return addressFailures >= addressFailureLimit && !responded && createdAt === null;
    default:
      return failure === 'final';
  }
}

/**
 * Returns whether the first clear status of the run was that of a run that has ended. After an unknown state or a response
 * that cannot be trusted, the next read decides.
 */
export function endedAtFirstRead(run: { progress: Progress; outcome: RunOutcome | null }): boolean {
  const { progress, outcome } = run;
  if (outcome === null || progress.inProgress) return false;
  return progress.seen?.kind === 'ended' || (outcome.verdict === 'unobserved' && saysEnded(outcome.cause));
}

/** At least as long as the service requests: jitter only adds to it. */
function nextWait(progress: Progress, rules: PollRules, requestedMs: number, random: number): number {
  const { seen, stretch } = progress;
  const seconds = seen?.kind === 'running' ? seen.retryAfterSeconds : null;
  const base = seconds === null ? rules.intervalMs : Math.max(seconds * 1000, rules.shortestMs ?? 1000);
  const stretched = Math.max(base, Math.min(base * stretch, longestIntervalMs), requestedMs);
  return stretched * (1 + random * (isLimit(progress.trouble) ? jitter.limited : jitter.usual));
}

export function atTheLimit(progress: Progress, reached: LimitReached = {}): RunOutcome {
  if (progress.trouble !== null) return { verdict: 'unobserved', cause: progress.trouble, limit: true };
  if (progress.seen !== null) return { verdict: 'timeout', limit: true, ...reached };
  const text = 'the timeout was reached before the state of the run was read';
  const cause = new NetworkError('deadline', text, { hint: 'set a longer timeout' });
  return { verdict: 'unobserved', cause, limit: true };
}

/** Returns whether the computer slept through the deadline. One more read then decides. */
export function overslept({ deadline, isLast }: PollRules, now: number): boolean {
  return isLast !== true && now - deadline >= oversleptMs;
}

/** Returns the rules for a read that begins now. One that begins after the deadline is the last. */
export function rulesAt(rules: PollRules, now: number): PollRules {
  return now < rules.deadline ? rules : { ...rules, deadline: now + lastReadMs, isLast: true };
}

/** A wait is never shortened to fit. */
function waitOrEnd(progress: Progress, rules: PollRules, now: number, waitMs: number): AfterRead {
  if (progress.attempts >= rules.maxAttempts)
    return { progress, decision: { done: atTheLimit(progress, { attemptsExhausted: true }) } };
  const over = rules.isLast === true || (now + waitMs >= rules.deadline && rules.hub !== true);
  return { progress, decision: over ? { done: atTheLimit(progress, { nextReadMs: waitMs }) } : { waitMs } };
}

interface AfterRead {
  progress: Progress;
  decision: Decision;
}

/** Pure: the same progress, result, time and random number give the same decision. */
export function afterRead(
  before: Progress,
  result: ReadResult,
  rules: PollRules,
  now: number,
  random: number,
): AfterRead {
  if ('error' in result) return afterFailure(before, result.error, rules, now, random);
  const { reading, retryAfterMs = 0 } = result;
  const progress: Progress = {
    attempts: before.attempts + 1,
    failures: 0,
    foreign: 0,
    missingSince: null,
    addressFailures: 0,
    responded: true,
    stretch: Math.max(1, before.stretch * 0.9),
    inProgress: before.inProgress || (reading.kind === 'running' && reading.known),
    seen: reading,
    trouble: null,
  };
  if (reading.kind === 'ended') return { progress, decision: { done: { verdict: verdictOf(reading) } } };
  return waitOrEnd(progress, rules, now, nextWait(progress, rules, retryAfterMs, random));
}

function afterFailure(
  before: Progress,
  error: RungateError,
  rules: PollRules,
  now: number,
  random: number,
): AfterRead {
  const failure = failureOf(error);
  // The deadline decides, by the reads before.
  if (failure === 'cut') {
    const decision = overslept(rules, now) ? { waitMs: 0 } : { done: atTheLimit(before) };
    return { progress: before, decision };
  }
  const limited = isLimit(error);
  const longestStretch = Math.max(1, longestIntervalMs / rules.intervalMs);
  const progress: Progress = {
    ...before,
    attempts: before.attempts + (limited ? 0 : 1),
    failures: before.failures + 1,
    foreign: failure === 'foreign' ? before.foreign + 1 : 0,
    missingSince: failure === 'missing' ? (before.missingSince ?? now) : before.missingSince,
    addressFailures: before.addressFailures + (isAddressFailure(error) ? 1 : 0),
    responded: before.responded || !(error instanceof NetworkError) || error.fault === 'broken',
    stretch: limited ? Math.min(before.stretch * 1.5, longestStretch) : before.stretch,
    trouble: error,
  };
  if (endsWait(failure, progress, rules, now))
    return { progress, decision: { done: { verdict: 'unobserved', cause: error } } };

  return waitOrEnd(progress, rules, now, waitAfter(failure, progress, rules, random));
}

/** After an outage the wait begins short. Otherwise it is the interval, or what the service requests. */
function waitAfter(failure: Failure, progress: Progress, rules: PollRules, random: number): number {
  const { failures, trouble } = progress;
  const requestedMs = (trouble instanceof HttpError ? trouble.retryAfterMs : undefined) ?? 0;
  const interval = nextWait(progress, rules, Math.max(requestedMs, shortestAfterFailureMs), random);
  if (failure !== 'outage') return interval;
  const backoff = random * Math.min(interval, firstBackoffMs * 2 ** (failures - 1));
  return Math.max(requestedMs, shortestAfterFailureMs + backoff);
}
