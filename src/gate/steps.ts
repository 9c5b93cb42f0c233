import type { StopCause } from '../errors.ts';
import { endStarted, endStopped, finish } from './end.ts';
import { counts, isStarted, mayRetry, passOver, retry } from './keys.ts';
import { lastReadMs, stopBudgetMs } from './limits.ts';
import { bySeverity } from './policy.ts';
import { atTheLimit, endedUnseen, unobserved, waitEndOf } from './reads.ts';
import {
  type Cause,
  causeOf,
  type End,
  type EnvironmentState,
  type GateState,
  type Outcome,
  type PageState,
  type PlanState,
  type RunState,
} from './state.ts';

/** The time for the cancel of a run after the timeout. */
const cancelMs = 15_000;

/** The time that a request which creates a run has after the deadline, to end by itself. */
export const createGraceMs = 2_000;

/** A timer that is so late was held up by a machine that slept, or by a process that had ended. */
const sleptMs = 1_000;

/** Returns whether the machine has slept past the end of a wait, or of the last read that it was granted. */
export const hasSlept = ({ lastReadBy }: GateState, end: number, now: number): boolean =>
  now - (lastReadBy ?? end) >= sleptMs;

/** How long the version page may confirm an outcome. */
const confirmMs = 30_000;

/** Reads of the version page that must agree: a load balancer may have several builds behind it. */
export const agreeing = 3;

/** Applies the rules that depend on the state and the time only, until nothing changes. */
export function advance(plan: PlanState, now: number): void {
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, gate] of Object.entries(plan.gates)) {
      if (gate.end !== null) continue;
      const before = JSON.stringify(gate);
      step(plan, gate, now);
      changed ||= JSON.stringify(gate) !== before;
      const failed = gate.end !== null && (gate.end as End).action === 'fail';
      if (failed && plan.failFast && plan.halt === null && plan.stop === null)
        plan.halt = { gate: name, at: now };
    }
  }
  for (const [key, environment] of Object.entries(plan.environments))
    closeEnvironment(plan, key, environment);
}

function step(plan: PlanState, gate: GateState, now: number): void {
  const cause = causeOf(plan);
  if (gate.begunAt === null) begin(plan, gate, cause, now);
  else if (gate.deadline === null) open(plan, gate, cause, now);
  else if (gate.run === null) awaitRun(plan, gate, cause, now);
  else if (!gate.rules.waits && cause === null && isStarted(gate, gate.run)) endStarted(gate, now);
  else if (gate.run.outcome === null) awaitOutcome(gate, gate.run, cause, now);
  else settle(plan, gate, gate.run, gate.run.outcome, cause, now);
}

function begin(plan: PlanState, gate: GateState, cause: Cause | null, now: number): void {
  const failed = gate.needs.find((need) => ['fail', undefined].includes(plan.gates[need]?.end?.action));
  const isOpen = gate.needs.some((need) => plan.gates[need]?.end === null);
  if (cause !== null && cause.by !== 'slice') endStopped(gate, cause.by, now);
  else if (!isOpen && failed !== undefined) {
    endStopped(gate, null, now);
    if (gate.end !== null) (gate.end as End).skippedFor = failed;
  } else if (!isOpen && cause === null) {
    gate.begunAt = now;
    if (plan.page !== null) plan.page.until ??= now + plan.page.timeoutMs;
  }
}

/** The timeout begins when the build is deployed, and the deployment of its environment responds. */
function open(plan: PlanState, gate: GateState, cause: Cause | null, now: number): void {
  if (cause !== null) {
    if (cause.by !== 'slice') endStopped(gate, cause.by, now);
  } else if (gate.run === null && awaitsBuild(plan)) {
    if (isTooLate(plan.page, now)) finish(gate, 'mismatch', now, 'not-deployed');
  } else if (gate.reached) gate.deadline = (plan.sliced ? (gate.begunAt ?? now) : now) + gate.rules.timeoutMs;
}

export const awaitsBuild = ({ page }: PlanState): boolean => page !== null && page.agreed < agreeing;

/** Returns whether a gate that has not created its run waits for the build. */
export const waitsForBuild = (plan: PlanState): boolean =>
  awaitsBuild(plan) &&
  Object.values(plan.gates).some(
    ({ begunAt, end, run, key }) => begunAt !== null && end === null && run === null && key?.sentAt === null,
  );

/** The build did not appear. */
const isTooLate = (page: PageState | null, now: number): boolean =>
  page?.until != null && isPageOver(page, page.until, now);

/** No other read of the version page comes in time, or the last one hangs. */
const isPageOver = ({ due }: PageState, until: number, now: number): boolean =>
  (due ?? 0) > until || now >= until + lastReadMs;

/** The last time for the request that creates a run: one that is created later would be read once, too early, or never. */
export const latestOf = ({ deadline, rules: { waits, timeoutMs, intervalMs } }: GateState): number =>
  (deadline ?? 0) - (waits && timeoutMs > intervalMs ? intervalMs : 0);

/** Before the run exists. */
function awaitRun(plan: PlanState, gate: GateState, cause: Cause | null, now: number): void {
  const { key, deadline } = gate;
  if (key === null || deadline === null) return;
  const environment = gate.environment === null ? undefined : plan.environments[gate.environment];
  const wasSent = key.sentAt !== null;
  if (cause !== null) {
    if (cause.by === 'slice') return;
    // The key finds the run that is to be cancelled, or named.
    if (!wasSent || !seeks(gate, cause.by) || now >= cause.at + stopBudgetMs) endStopped(gate, cause.by, now);
  } else if (environment?.step === 'failed')
    finish(gate, 'unobserved', now, environment.error ?? 'no-environment');
  else if (!wasSent && awaitsBuild(plan) && isTooLate(plan.page, now))
    finish(gate, 'mismatch', now, 'not-deployed');
  else if (now >= (wasSent ? deadline + createGraceMs : latestOf(gate)))
    finish(
      gate,
      'timeout',
      now,
      wasSent
        ? 'lost'
        : environment !== undefined && environment.step !== 'ready'
          ? 'no-environment'
          : 'late',
    );
}

function awaitOutcome(gate: GateState, run: RunState, cause: Cause | null, now: number): void {
  const deadline = waitEndOf(gate) ?? now;
  if (cause !== null) {
    if (cause.by === 'slice') return;
    stopRun(gate, run, cause, now);
  } else if (now >= deadline) {
    // A machine that slept past the end reads once more before it judges.
    if (run.due <= now && hasSlept(gate, deadline, now)) gate.lastReadBy = now + lastReadMs;
    else if (gate.lastReadBy === null || now >= gate.lastReadBy || run.due > now)
      run.outcome = atTheLimit(run);
  }
}

function stopRun(gate: GateState, run: RunState, cause: Cause, now: number): void {
  if (cancels(gate, cause.by)) wantCancel(run, cause.at + stopBudgetMs);
  if (!isCancelling(run, now)) endStopped(gate, cause.by, now);
}

function wantCancel(run: RunState, by: number): void {
  if (run.cancel === 'no') run.cancel = 'wanted';
  if (run.cancel === 'wanted') run.cancelBy = Math.min(by, run.cancelBy ?? by);
}

const isCancelling = ({ cancel, cancelBy }: RunState, now: number): boolean =>
  cancel === 'wanted' && now < (cancelBy ?? now);

const cancels = ({ rules: { cancelOnInterrupt: on } }: GateState, by: StopCause): boolean =>
  by === 'fail-fast' || on === true || on === by;

const seeks = (gate: GateState, by: StopCause): boolean => !gate.rules.waits || cancels(gate, by);

/** When the run has its outcome: the build is confirmed, then the gate ends, retries, or passes the run over. */
function settle(
  plan: PlanState,
  gate: GateState,
  run: RunState,
  outcome: Outcome,
  cause: Cause | null,
  now: number,
): void {
  run.endedAt ??= now;
  const { page } = plan;
  if (page !== null && gate.pageReads < agreeing) {
    // Another build is certain without the reads that a stop prevents.
    if (cause !== null && cause.by !== 'slice' && !page.other) {
      if (outcome.ended) endStopped(gate, cause.by, now);
      else stopRun(gate, run, cause, now);
      return;
    }
    if (run.cancel === 'no' && mayConfirm(page, gate, cause, now)) return;
  }
  if (outcome.limit && gate.rules.cancelOnTimeout)
    wantCancel(run, cause === null ? now + cancelMs : cause.at + stopBudgetMs);
  if (isCancelling(run, now)) return;
  const judged = withBuild(plan, gate, outcome);
  if (endedUnseen(run) && !counts(gate, run, judged)) passOver(gate, run, judged, now);
  else if (judged.verdict === 'failed' && !plan.reported && mayRetry(gate, now)) retry(plan, gate, run, now);
  else finish(gate, judged.verdict, now, judged.error);
}

/** Returns whether a read of the version page may still confirm the outcome. */
function mayConfirm(page: PageState, gate: GateState, cause: Cause | null, now: number): boolean {
  gate.confirmBy ??= now + confirmMs;
  if (gate.lastReadBy === null && now - gate.confirmBy >= lastReadMs + sleptMs)
    gate.confirmBy = gate.lastReadBy = now + lastReadMs;
  return cause === null ? !isPageOver(page, gate.confirmBy, now) : cause.by === 'slice';
}

/** Another build, or an unknown one, outweighs what the run says, unless the policy treats the run's own verdict worse. */
export function withBuild(
  { page }: PlanState,
  { pageReads, rules: { policy } }: GateState,
  outcome: Outcome,
): Outcome {
  if (page === null || (!page.other && pageReads > 0)) return outcome;
  const verdict = page.other ? 'mismatch' : 'unobserved';
  const than = bySeverity(policy[verdict], policy[outcome.verdict]);
  if (than > 0 || (than === 0 && outcome.verdict === 'unobserved')) return outcome;
  return {
    ...unobserved(page.other ? 'other-build' : (page.error ?? 'build-unread')),
    verdict,
    limit: outcome.limit,
  };
}

/** An environment is deleted when its gates have ended, unless a run may go on in it. The job may have left one before its re-run. */
function closeEnvironment(plan: PlanState, key: string, environment: EnvironmentState): void {
  const users = Object.values(plan.gates).filter((gate) => gate.environment === key);
  if (!['wanted', 'creating', 'ready', 'failed'].includes(environment.step)) return;
  if (users.every(({ end }) => end !== null)) environment.step = users.some(mayGoOn) ? 'kept' : 'deleting';
}

/** Returns whether a run of an ended gate may still go on. */
export function mayGoOn({ run, key }: GateState): boolean {
  if (run === null) return key !== null && key.sentAt !== null;
  if (run.cancel === 'accepted') return false;
  return !run.outcome?.ended;
}
