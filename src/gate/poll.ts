import { ContractError, HttpError, NetworkError, type RungateError } from '../errors.ts';
import { type Slots, slotFrom } from './fleet/slots.ts';
import type { Reading } from './run-status.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/** The limits and the rhythm of a wait. Times in milliseconds; `deadline` on the monotonic clock. */
export interface PollRules {
  intervalMs: number;
  /** Status reads at most; Infinity when only the deadline counts. */
  maxAttempts: number;
  deadline: number;
  /** What the service asks for counts as this at least; default 1 s. */
  shortestMs?: number | undefined;
  /** We triggered the run ourselves: the service was reached, and the run may not be visible at once. */
  triggered: boolean;
  /** The moments that are ours among the reads of a fleet, on the monotonic clock; default: any moment. */
  slots?: Slots | undefined;
}

/** What is remembered of a run between two reads. */
export interface Progress {
  /** Reads that count: all but those answered 429. */
  attempts: number;
  /** Failed reads in a row. */
  failures: number;
  /** Failed connections while no reply has ever come: a sign of a wrong address. */
  addressFailures: number;
  /** The service has answered something, whatever it was. */
  responded: boolean;
  /** How far the interval is stretched because the tenant's limit was hit; 1 is not at all. */
  stretch: number;
  /** A read has shown the run in progress: it had not ended before the first look. */
  inProgress: boolean;
  /** The last reply that could be understood. */
  seen: Reading | null;
  /** Why the last read failed; null when it succeeded. */
  trouble: RungateError | null;
}

export type Outcome =
  /** `nextReadMs`: the time limit comes before the next read, which would have been in so long. */
  | { verdict: Exclude<Verdict, 'unobserved'>; limit?: boolean; nextReadMs?: number }
  /** `limit`: the time or the number of reads was used up, rather than an answer that leaves no hope. */
  | { verdict: 'unobserved'; cause: RungateError; limit?: boolean };

export type Decision = { done: Outcome } | { waitMs: number };

/** A reply that could be understood, or why there was none; `retryAfterMs` is what a header asked for. */
export type ReadResult =
  | { reading: Exclude<Reading, { kind: 'broken' }>; retryAfterMs?: number | undefined }
  | { error: RungateError };

/** Reads after our own trigger in which a 404 means "not visible yet". */
const visibilityReads = 3;
/** Failed connections, with no reply ever, after which the address counts as wrong. */
const addressFailureLimit = 4;
const firstBackoffMs = 500;
const longestIntervalMs = 30 * 60_000;
/** What is added to a wait at random, as a share of it. Clients that a limit refuses together are told to return together. */
const jitter = { usual: 0.1, limited: 0.5 } as const;

/** Fleets of up to about a hundred runs at once keep to the limit on reads at this interval. */
const longestFirstIntervalMs = 150_000;

/**
 * How far to stretch the interval of a run whose create the rate limit held up for `limitedMs`: 20 creates a minute were
 * accepted meanwhile, and the reads of their runs share one limit.
 */
export function stretchAfter(limitedMs: number, intervalMs: number): number {
  return Math.max(1, Math.min(longestFirstIntervalMs, (2 / 3) * limitedMs) / intervalMs);
}

/** @param stretch `stretchAfter` of the run's create */
export function firstProgress(stretch = 1): Progress {
  return {
    attempts: 0,
    failures: 0,
    addressFailures: 0,
    responded: false,
    stretch,
    inProgress: false,
    seen: null,
    trouble: null,
  };
}

/** The status says that the run has ended, and not how: no later read can be better. */
function saysEnded(error: RungateError): boolean {
  return error instanceof ContractError && (error.field === 'failed' || error.field === 'blocked');
}

/** Whether a later read could succeed. */
function isPassing(error: RungateError, progress: Progress, rules: PollRules): boolean {
  if (error instanceof NetworkError) return true;
  if (error instanceof ContractError) return !saysEnded(error);
  if (!(error instanceof HttpError)) return false;
  if (error.status === 404) return rules.triggered && progress.attempts <= visibilityReads;
  return error.status === 408 || error.status === 429 || error.status >= 500;
}

/**
 * Whether the first clear status of the run was that of a run that has ended. An unknown state or a response that cannot be
 * trusted leaves that open, and the next read decides.
 */
export function endedAtFirstRead(run: { progress: Progress; outcome: Outcome | null }): boolean {
  const { progress, outcome } = run;
  if (outcome === null || progress.inProgress) return false;
  return progress.seen?.kind === 'ended' || (outcome.verdict === 'unobserved' && saysEnded(outcome.cause));
}

function isLimit(error: RungateError | null): boolean {
  return error instanceof HttpError && error.status === 429;
}

function isAddressFailure(error: RungateError): boolean {
  return error instanceof NetworkError && ['dns', 'refused', 'tls'].includes(error.fault);
}

/**
 * The wait until the next read: what the service asks for, never less. Jitter only adds; slots of our own, where there are
 * any, need none.
 */
function nextWait(
  progress: Progress,
  rules: PollRules,
  askedMs: number,
  now: number,
  random: number,
): number {
  const { seen, stretch } = progress;
  const { slots } = rules;
  const seconds = seen?.kind === 'running' ? seen.retryAfterSeconds : null;
  const base = seconds === null ? rules.intervalMs : Math.max(seconds * 1000, rules.shortestMs ?? 1000);
  if (slots !== undefined) {
    // Every stretch leaves some of the slots out.
    const leftOut = Math.min(slots.everyMs * (stretch - 1), longestIntervalMs);
    return slotFrom(now + Math.max(base, askedMs, leftOut), slots) - now;
  }
  const stretched = Math.max(base, Math.min(base * stretch, longestIntervalMs), askedMs);
  return stretched * (1 + random * (isLimit(progress.trouble) ? jitter.limited : jitter.usual));
}

/**
 * Returns the outcome when the deadline or the attempt limit is reached.
 * @param nextReadMs how long it would be until the next read, where the deadline comes before that
 */
export function atTheLimit(progress: Progress, nextReadMs?: number): Outcome {
  if (progress.trouble !== null) return { verdict: 'unobserved', cause: progress.trouble, limit: true };
  if (progress.seen !== null)
    return { verdict: 'timeout', limit: true, ...(nextReadMs !== undefined && { nextReadMs }) };
  const text = 'the time was up before the state of the run was read even once';
  const cause = new NetworkError('deadline', text, { hint: 'set a longer timeout' });
  return { verdict: 'unobserved', cause, limit: true };
}

/** Within the limits, wait; past them, the wait is over: it is never made shorter to fit. */
function waitOrEnd(progress: Progress, rules: PollRules, now: number, waitMs: number): AfterRead {
  if (progress.attempts >= rules.maxAttempts) return { progress, decision: { done: atTheLimit(progress) } };
  const over = now + waitMs >= rules.deadline;
  return { progress, decision: over ? { done: atTheLimit(progress, waitMs) } : { waitMs } };
}

interface AfterRead {
  progress: Progress;
  decision: Decision;
}

/**
 * What follows from one status read. Pure: the same progress, result, time and random number give the same
 * decision.
 */
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
    addressFailures: 0,
    responded: true,
    stretch: Math.max(1, before.stretch * 0.9),
    inProgress: before.inProgress || (reading.kind === 'running' && reading.known),
    seen: reading,
    trouble: null,
  };
  if (reading.kind === 'ended') return { progress, decision: { done: { verdict: verdictOf(reading) } } };
  return waitOrEnd(progress, rules, now, nextWait(progress, rules, retryAfterMs, now, random));
}

function afterFailure(
  before: Progress,
  error: RungateError,
  rules: PollRules,
  now: number,
  random: number,
): AfterRead {
  const limited = isLimit(error);
  const longestStretch = Math.max(1, longestIntervalMs / rules.intervalMs);
  const progress: Progress = {
    ...before,
    attempts: before.attempts + (limited ? 0 : 1),
    failures: before.failures + 1,
    addressFailures: before.addressFailures + (isAddressFailure(error) ? 1 : 0),
    responded: before.responded || !(error instanceof NetworkError) || error.fault === 'broken',
    stretch: limited ? Math.min(before.stretch * 1.5, longestStretch) : before.stretch,
    trouble: error,
  };
  const wrongAddress =
    progress.addressFailures >= addressFailureLimit && !progress.responded && !rules.triggered;
  if (!isPassing(error, progress, rules) || wrongAddress)
    return { progress, decision: { done: { verdict: 'unobserved', cause: error } } };

  const askedMs = (error instanceof HttpError ? error.retryAfterMs : undefined) ?? 0;
  // A read that failed was a read: in a fleet the next one waits for its slot, too.
  if (limited || rules.slots !== undefined)
    return waitOrEnd(progress, rules, now, nextWait(progress, rules, askedMs, now, random));
  const interval = nextWait(progress, rules, 0, now, random);
  const backoff = random * Math.min(interval, firstBackoffMs * 2 ** (progress.failures - 1));
  return waitOrEnd(progress, rules, now, Math.max(askedMs, backoff));
}
