import type { StopCause } from '../errors.ts';
import { endStopped, finish } from './end.ts';
import { addRefusal, addRequest, isEarlier, useSpare } from './keys.ts';
import {
  addFailure,
  addReading,
  atTheLimit,
  beginRead,
  firstReadMs,
  lookAgain,
  newRun,
  type Pause,
  type ReadFailure,
  type Reading,
  stretchAfter,
  type WaitLimits,
  waitEndOf,
  wake,
} from './reads.ts';
import { resumed } from './resume.ts';
import {
  type Cause,
  causeOf,
  type EnvironmentState,
  type ErrorData,
  type GateState,
  type KeyState,
  type PageState,
  type PlanState,
  type RunState,
} from './state.ts';
import { advance, awaitsBuild, hasSlept, waitsForBuild } from './steps.ts';

/** Something that has happened. Waits in milliseconds. */
export type Event =
  /** The request that creates the run is sent next, once the state is saved. */
  | { type: 'sending'; gate: string }
  /** The service certainly did not act on the last request. */
  | { type: 'refused'; gate: string; key: string }
  /** The request that creates the run has its turn in the limits; or it, or the read, would have it too late. */
  | { type: 'granted' | 'too-late'; gate: string }
  /** `limitedMs`: how long the rate limit delayed the requests. */
  | {
      type: 'created';
      gate: string;
      key: string;
      run: string;
      appUrl: string | null;
      replayed: boolean | null;
      limitedMs: number;
    }
  | { type: 'create-failed'; gate: string; key: string; error: ErrorData }
  /** A status read of the run begins. */
  | { type: 'reading'; gate: string; run: string }
  | ({ type: 'read'; gate: string; run: string; reading: Reading } & Pause)
  | ({ type: 'read-failed'; gate: string; run: string; why: ReadFailure; error: ErrorData } & Pause)
  /** `build`: what the version page showed; `first`: another expected build than the read before; null if it could not be read. `confirms`: the gates whose runs had ended before the read. */
  | {
      type: 'page';
      build: 'first' | 'expected' | 'other' | null;
      error: ErrorData | null;
      confirms: readonly string[];
    }
  | { type: 'woken'; run: string }
  /** The deployment that the gate tests responds, or `error`. */
  | { type: 'reached'; gate: string; error: ErrorData | null }
  /** `creating`: the request is sent next, once the state is saved. */
  | {
      type: 'environment';
      key: string;
      step: 'creating' | 'ready' | 'failed' | 'deleted' | 'kept' | 'none';
      error: ErrorData | null;
    }
  | { type: 'cancelled'; gate: string; run: string; ok: boolean }
  /** `orphaned`: as in `StopListener`. */
  | { type: 'stop'; by: StopCause; orphaned?: boolean | undefined }
  /** Another process goes on with the saved state, perhaps in a re-run of the job. `behindMs`: how far the clock was set back since it was saved. `isReported`: a command has reported its end. */
  | { type: 'resumed'; attempt: number | null; behindMs: number; isReported?: boolean }
  | { type: 'time' };

export const pageEveryMs = 1_000;

/** Returns the plan after an event. Pure: `now` is the wall time in milliseconds. */
export function decide(plan: PlanState, event: Event, now: number): PlanState {
  const next = event.type === 'resumed' ? resumed(plan, event, now) : structuredClone(plan);
  apply(next, event, now);
  advance(next, now);
  return next;
}

function apply(plan: PlanState, event: Event, now: number): void {
  if ('gate' in event) {
    applyToGate(plan, plan.gates[event.gate] as GateState, event, now);
    return;
  }
  switch (event.type) {
    case 'page':
      addPageRead(plan, event, now);
      return;
    case 'woken':
      for (const { run } of Object.values(plan.gates)) if (run?.id === event.run) wake(run, now);
      return;
    case 'environment':
      Object.assign(plan.environments[event.key] as EnvironmentState, {
        step: event.step,
        error: event.error,
      });
      return;
    case 'stop':
      // A person may stop what the end of a slice would only leave.
      if (plan.stop === null || plan.stop.by === 'slice')
        plan.stop = { by: event.by, at: now, ...(event.orphaned && { orphaned: true }) };
      return;
  }
}

function applyToGate(
  plan: PlanState,
  gate: GateState,
  event: Extract<Event, { gate: string }>,
  now: number,
): void {
  switch (event.type) {
    case 'sending':
      addRequest(gate.key as KeyState, now);
      return;
    case 'refused':
      addRefusal(gate.key as KeyState);
      return;
    case 'granted':
      (gate.key as KeyState).granted = true;
      return;
    case 'too-late':
      if (gate.run === null) finish(gate, 'timeout', now, 'late');
      else gate.run.outcome = atTheLimit(gate.run);
      return;
    case 'created':
      addRun(plan, gate, event, now);
      return;
    case 'create-failed':
      addCreateFailure(gate, causeOf(plan), event.error, now);
      return;
    case 'reading':
      beginRead(gate.run as RunState);
      if (plan.page !== null) plan.page.due ??= now;
      return;
    case 'read':
    case 'read-failed':
      addRead(plan, gate, gate.run as RunState, event, now);
      return;
    case 'reached':
      if (event.error === null) gate.reached = true;
      else finish(gate, 'unobserved', now, event.error);
      return;
    case 'cancelled':
      (gate.run as RunState).cancel = event.ok ? 'accepted' : 'failed';
      return;
  }
}

function addRead(
  plan: PlanState,
  gate: GateState,
  run: RunState,
  event: Extract<Event, { type: 'read' | 'read-failed' }>,
  now: number,
): void {
  const { rules, deadline } = gate;
  const answered = event.type === 'read' || event.why === 'limit' || event.why === 'missing';
  const renews = run.readBy !== null && answered;
  const until = waitEndOf({ run, deadline });
  const slept = hasSlept(gate, until ?? now, now);
  const end = renews ? Math.max(deadline ?? 0, now + firstReadMs) : until;
  const limits: WaitLimits = { deadline: end ?? now, hub: plan.hub };
  if (event.type === 'read') addReading(run, event.reading, event, rules, limits, now);
  else addFailure(run, event.why, event.error, event, rules, limits, now);
  // The wait that an answer of the service requests takes none of the time for a clear one.
  if (renews) {
    run.readBy = run.due + firstReadMs;
    gate.lastReadBy = null;
  }
  const isOpen = run.outcome === null || (run.outcome.limit && !run.outcome.readsUsed);
  // The machine slept while the response was on its way, which is old by now.
  if (isOpen && slept) Object.assign(run, { outcome: null, due: renews ? run.due : now });
  if (run.trouble === null) lookAgain(run, now);
}

function addPageRead(
  plan: PlanState,
  { build, error, confirms }: Extract<Event, { type: 'page' }>,
  now: number,
): void {
  const { gates } = plan;
  const page = plan.page as PageState;
  const isUnderWay = Object.values(gates).some(({ run, end }) => run !== null && end === null);
  page.error = error ?? page.error;
  // Once it is deployed, only a retry waits for it again.
  if (awaitsBuild(plan)) page.agreed = build === 'expected' ? page.agreed + 1 : build === 'first' ? 1 : 0;
  if (build === 'other' && isUnderWay) page.other = true;
  // During the runs, the page is read with their statuses.
  page.due = confirms.length > 0 || waitsForBuild(plan) ? now + pageEveryMs : null;
  for (const name of build === null ? [] : confirms) {
    const gate = gates[name] as GateState;
    if (gate.run?.outcome) gate.pageReads += 1;
  }
}

function addRun(
  plan: PlanState,
  gate: GateState,
  { key, run: id, appUrl, replayed, limitedMs }: Extract<Event, { type: 'created' }>,
  now: number,
): void {
  const link = gate.key as KeyState;
  if (gate.end !== null) return;
  const others = Object.values(plan.gates).filter((other) => other !== gate);
  if (others.some(({ run, past }) => run?.id === id || past.some((one) => one.run.id === id))) {
    finish(gate, 'unobserved', now, 'same-run');
    return;
  }
  if (gate.past.some((one) => one.run.id === id)) {
    // The service ignores keys, or has forgotten this one: only a random key is left.
    useSpare(gate, now);
    return;
  }
  // A request of this gate whose response was lost can have started it, or one of another command of its slices.
  const isSent = link.requests > 1 || plan.sliced;
  const { waits, intervalMs } = gate.rules;
  const known = replayed === true && link.trust === 'random' && isSent ? null : replayed;
  gate.run = newRun(id, {
    key,
    since: link.sentAt as number,
    replayed: known,
    reattached: known ?? isEarlier(gate),
    stretch: waits ? stretchAfter(limitedMs, intervalMs) : 1,
    due: now,
    readBy: waits ? null : now + firstReadMs,
    appUrl,
  });
}

function addCreateFailure(gate: GateState, cause: Cause | null, error: ErrorData, now: number): void {
  if (cause !== null) endStopped(gate, cause.by, now);
  else finish(gate, 'unobserved', now, error);
}
