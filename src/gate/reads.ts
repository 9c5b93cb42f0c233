import { mostAddress, mostForeign } from './limits.ts';
import { verdictOf } from './policy.ts';
import type { StatusReading } from './run-status.ts';
import type { ErrorData, GateRules, GateState, Outcome, RunState, Why } from './state.ts';

/**
 * Why a read failed. `limit`: HTTP 429. `later`: the service requests another read later. `missing`: its own 404. `foreign`, and
 * `foreign-404`: a 401, 403, redirect or 404 that something else answered. `address`: no connection, as with a wrong address.
 * `outage`: a lost connection, a 5xx or a response that cannot be trusted. `ended`: the run has ended, but its counts cannot be
 * trusted. `cut`: the gate's own deadline. `final`: no later read can be better.
 */
export type ReadFailure =
  | 'limit'
  | 'later'
  | 'missing'
  | 'foreign'
  | 'foreign-404'
  | 'address'
  | 'outage'
  | 'ended'
  | 'cut'
  | 'final';

/** A status that can be trusted. */
export type Reading = Exclude<StatusReading, { kind: 'broken' }>;

/** The facts of a read: the wait that the service requests, in milliseconds, or null; and a random number from 0 up to 1. */
export interface Pause {
  retryAfterMs: number | null;
  random: number;
}

/** A new run may be invisible for so long, in milliseconds. */
const visibleAfterMs = 60_000;
/** The shortest time between two 404s that end the wait. */
const missingMs = 10_000;
/** The shortest wait after a failed read. */
const afterFailureMs = 1_000;

const firstBackoffMs = 500;
const longestIntervalMs = 30 * 60_000;
/** The largest random share added to a wait. It is larger after a 429, since many clients get the same `Retry-After`. */
const jitter = { usual: 0.1, limited: 0.5 } as const;

/** The time for a clear read of a run that is only started, in milliseconds. */
export const firstReadMs = 60_000;

/** Returns the time at which the wait for a run ends. */
export const waitEndOf = ({ run, deadline }: Pick<GateState, 'run' | 'deadline'>): number | null =>
  run?.readBy ?? deadline;

/** At this interval, about a hundred runs at once stay within the limit on reads. */
const longestFirstIntervalMs = 150_000;

/**
 * Returns the factor of the interval for a run whose create the rate limit delayed by `limitedMs`. The service accepted 20
 * creates a minute in the meantime, and the reads of their runs share one limit.
 */
export function stretchAfter(limitedMs: number, intervalMs: number): number {
  return Math.max(1, Math.min(longestFirstIntervalMs, (2 / 3) * limitedMs) / intervalMs);
}

/** The times that end a wait: the gate's deadline, and whether a hub may wake the gate before the next read. */
export interface WaitLimits {
  deadline: number;
  hub: boolean;
}

/** Returns what a wait comes to at its deadline, or after its last read. A start must know whether the run has ended. */
export function atTheLimit({ trouble, seen, readBy }: RunState, reached: Partial<Outcome> = {}): Outcome {
  const outcome: Outcome = {
    verdict: 'unobserved',
    error: trouble ?? 'unread',
    limit: true,
    nextReadMs: null,
    readsUsed: false,
    ended: false,
  };
  return trouble === null && seen !== null && readBy === null
    ? { ...outcome, verdict: 'timeout', error: null, ...reached }
    : outcome;
}

/** Returns what a run comes to whose state cannot be read. */
export const unobserved = (error: Why | null): Outcome => ({
  verdict: 'unobserved',
  error,
  limit: false,
  nextReadMs: null,
  readsUsed: false,
  ended: false,
});

/** Returns whether the first clear status of the run was that of a run that had ended. One that cannot be read may go on. */
export const endedUnseen = ({ live, outcome }: RunState): boolean => !live && outcome?.ended === true;

/** Returns a run of which nothing was read yet. */
export const newRun = (id: string, known: Partial<RunState> & Pick<RunState, 'since' | 'due'>): RunState => ({
  id,
  key: null,
  replayed: null,
  reattached: false,
  live: false,
  reads: 0,
  failures: 0,
  foreign: 0,
  addressFailures: 0,
  responded: false,
  stretch: 1,
  paceMs: null,
  wakes: 0,
  confirmations: 0,
  woken: false,
  readWoken: false,
  missingSince: null,
  readBy: null,
  unknown: false,
  trouble: null,
  seen: null,
  appUrl: null,
  outcome: null,
  endedAt: null,
  cancel: 'no',
  cancelBy: null,
  ...known,
});

/** Changes the run by a good read. */
export function addReading(
  run: RunState,
  reading: Reading,
  pause: Pause,
  rules: GateRules,
  limits: WaitLimits,
  now: number,
): void {
  run.reads += 1;
  run.unknown = reading.kind === 'running' && !reading.known;
  run.failures = 0;
  run.foreign = 0;
  run.addressFailures = 0;
  run.responded = true;
  run.missingSince = null;
  run.trouble = null;
  run.stretch = Math.max(1, run.stretch * 0.9);
  run.seen = { state: reading.state, failed: reading.failed, blocked: reading.blocked };
  run.appUrl = reading.appUrl ?? run.appUrl;
  if (reading.kind === 'ended') {
    run.outcome = { ...unobserved(null), verdict: verdictOf(reading), ended: true };
    return;
  }
  run.live ||= reading.known;
  const seconds = reading.retryAfterSeconds;
  run.paceMs = seconds === null ? null : Math.max(seconds * 1000, rules.shortestMs);
  waitOrEnd(run, nextWait(run, pause, rules, jitter.usual), rules, limits, now);
}

/** Returns the next wait, at least as long as the service requests: the random share only adds to it. */
function nextWait(
  { stretch, paceMs }: RunState,
  { retryAfterMs, random }: Pause,
  { intervalMs }: GateRules,
  share: number,
): number {
  const base = paceMs ?? intervalMs;
  const stretched = Math.max(base, Math.min(base * stretch, longestIntervalMs), retryAfterMs ?? 0);
  return stretched * (1 + random * share);
}

/** A wait is never shortened to fit. */
function waitOrEnd(
  run: RunState,
  waitMs: number,
  { maxReads }: GateRules,
  { deadline, hub }: WaitLimits,
  now: number,
): void {
  run.due = Math.ceil(now + waitMs);
  if (maxReads !== null && run.reads - run.confirmations >= maxReads)
    run.outcome = atTheLimit(run, { readsUsed: true });
  else if (run.due >= deadline && !hub) run.outcome = atTheLimit(run, { nextReadMs: waitMs });
}

/** Changes the run by a failed read. */
export function addFailure(
  run: RunState,
  why: ReadFailure,
  error: ErrorData,
  pause: Pause,
  rules: GateRules,
  limits: WaitLimits,
  now: number,
): void {
  // The wait ends at the deadline, not here.
  if (why === 'cut') return;
  const isForeign = why === 'foreign' || why === 'foreign-404';
  run.trouble = error;
  run.failures += 1;
  run.foreign = isForeign ? run.foreign + 1 : 0;
  if (why === 'missing') run.missingSince ??= now;
  run.addressFailures += why === 'address' ? 1 : 0;
  run.responded ||= why !== 'address';
  if (why === 'limit')
    run.stretch = Math.min(run.stretch * 1.5, Math.max(1, longestIntervalMs / rules.intervalMs));
  else run.reads += 1;
  if (ends(run, why, now)) run.outcome = { ...unobserved(error), ended: why === 'ended' };
  else waitOrEnd(run, waitAfter(run, why, pause, rules), rules, limits, now);
}

/** After an outage the wait begins short. Otherwise it is the interval, or what the service requests. */
function waitAfter(run: RunState, why: ReadFailure, pause: Pause, rules: GateRules): number {
  const leastMs = Math.max(pause.retryAfterMs ?? 0, afterFailureMs);
  const least = { ...pause, retryAfterMs: leastMs };
  const interval = nextWait(run, least, rules, why === 'limit' ? jitter.limited : jitter.usual);
  if (why !== 'outage' && why !== 'address') return interval;
  const longest = Math.min(interval, firstBackoffMs * 2 ** (run.failures - 1));
  return Math.max(pause.retryAfterMs ?? 0, afterFailureMs + pause.random * longest);
}

/** Returns whether a failed read ends the wait. A wait that the service requests never does. */
function ends(run: RunState, why: ReadFailure, now: number): boolean {
  const isOwn = run.key !== null;
  const isNew = isOwn && now - run.since < visibleAfterMs;
  switch (why) {
    case 'ended':
    case 'final':
      return true;
    case 'missing':
      return !isNew && now - (run.missingSince ?? now) >= missingMs;
    case 'address':
      return run.addressFailures >= mostAddress && !run.responded && !isOwn;
    case 'foreign':
    case 'foreign-404':
      // Until the service has responded to this command, such an answer shows a wrong address.
      return (
        (!isOwn && run.seen === null) || (run.foreign >= mostForeign && !(isNew && why === 'foreign-404'))
      );
    default:
      return false;
  }
}

/** More wake-ups of one run cause no reads: a hub cannot make a gate read without end. */
const mostWakes = 10;

/** After a read that a wake-up caused and that shows the run in progress: the delivery may have come before the status. */
const secondLookMs = 5_000;

export function wake(run: RunState, now: number): void {
  if (run.outcome !== null || run.wakes >= mostWakes) return;
  run.wakes += 1;
  run.woken = true;
  // A service that asks for patience gets it.
  if (run.trouble === null) run.due = Math.min(run.due, now);
}

export function beginRead(run: RunState): void {
  run.readWoken = run.woken;
  if (run.woken) run.confirmations += 1;
  run.woken = false;
}

/** Sets the next read earlier if a delivery came during this one, or caused it. */
export function lookAgain(run: RunState, now: number): void {
  if (run.woken) run.due = Math.min(run.due, now);
  else if (run.readWoken && run.confirmations < 2 * run.wakes) {
    // The delivery before the first read of a new run was probably about its start.
    run.woken = !(run.key !== null && run.reads === 1);
    run.due = Math.min(run.due, now + secondLookMs);
  }
}
