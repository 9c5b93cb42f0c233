import { linkAfter, mostLinks, soonestMs } from './chain.ts';
import { finish, isJoinedRetry } from './end.ts';
import {
  type GateState,
  type KeyState,
  type Outcome,
  type PlanState,
  type RunState,
  retriesIn,
  type Trust,
} from './state.ts';

/** Returns whether the run is this gate's for certain, ended or not. */
export function isOwn({ key }: GateState, run: RunState): boolean {
  if (key === null || key.trust === 'given' || run.replayed === false) return true;
  return key.trust === 'random' && run.replayed !== true;
}

/** Returns whether a run that had ended before its first clear read can be this gate's. It may fail the gate, but only a certain one passes it. */
export function counts(gate: GateState, run: RunState, { verdict }: Outcome): boolean {
  if (isOwn(gate, run)) return true;
  return gate.key?.trust === 'job' && gate.rules.policy[verdict] === 'fail';
}

/** So many reads that do not show whether the run has ended show that it has not. */
const mostUnclear = 3;

/** Returns whether the run of a gate that does not wait needs no other read: it is the gate's, or has not ended. */
export function isStarted(gate: GateState, run: RunState): boolean {
  const { live, reads, unknown, missingSince, outcome } = run;
  if (live || isOwn(gate, run)) return true;
  if (outcome?.ended) return counts(gate, run, outcome);
  return (unknown || missingSince !== null) && reads >= mostUnclear;
}

/** Returns whether the gate may start another run after a failed one, if the time is enough. */
export const hasRetryLeft = ({ rules, past, key }: GateState): boolean =>
  retriesIn(past) < rules.retries && key !== null && key.trust !== 'given';

export function mayRetry(gate: GateState, now: number): boolean {
  const { rules, deadline } = gate;
  return hasRetryLeft(gate) && now + rules.intervalMs < (deadline ?? now);
}

export function retry(plan: PlanState, gate: GateState, run: RunState, now: number): void {
  if (plan.page !== null) {
    plan.page.agreed = 0;
    plan.page.until = Math.min(now + plan.page.timeoutMs, gate.deadline ?? now);
  }
  leave(gate, run, 'failed', true, now);
}

export function passOver(gate: GateState, run: RunState, { verdict }: Outcome, now: number): void {
  leave(gate, run, verdict, false, now);
}

/** Goes on with the next link of the chain. */
function leave(
  gate: GateState,
  run: RunState,
  verdict: Outcome['verdict'],
  mine: boolean,
  now: number,
): void {
  const { key, attempt, rules } = gate;
  if (key === null) return;
  const late = !mine && (verdict === 'failed' || verdict === 'blocked') && now - run.since > soonestMs;
  gate.past.push({ run, trust: key.trust, verdict, mine, late });
  gate.run = null;
  gate.pageReads = 0;
  gate.confirmBy = null;
  gate.lastReadBy = null;
  const links = mostLinks(attempt, rules.retries);
  if (!mine && (key.trust === 'random' || gate.past.length >= links)) useSpare(gate, now);
  else gate.key = newKey(linkAfter(key.key, run.id), trustAfter(key.trust, run));
}

export const newKey = (key: string, trust: Trust, open = false): KeyState => ({
  key,
  trust,
  open,
  granted: false,
  sentAt: null,
  requests: 0,
  unsure: 0,
});

/** Nobody can have used the key after a run that this gate saw in progress, or has just created, before that run ended. */
function trustAfter(trust: Trust, { live, replayed }: RunState): Trust {
  return trust === 'shared' && (live || replayed === false) ? 'job' : trust;
}

export function useSpare(gate: GateState, now: number): void {
  if (gate.spare === null) {
    finish(gate, 'unobserved', now, 'same-run');
    return;
  }
  gate.key = newKey(gate.spare, 'random');
  gate.spare = null;
}

/** Returns whether the job has probably started the run of the gate's key earlier; null if the key does not tell. */
export function isEarlier(gate: GateState): boolean | null {
  const { key, past, attempt, rules } = gate;
  if (key === null) return false;
  if (key.open || isJoinedRetry(gate)) return true;
  if (key.trust === 'given') return null;
  if (key.trust !== 'shared') return false;
  return attempt === null ? null : past.length < (attempt - 1) * (1 + rules.retries);
}

export function addRequest(key: KeyState, now: number): void {
  key.sentAt ??= now;
  key.requests += 1;
  key.unsure += 1;
}

/** An earlier request, perhaps of another process, may still have started the run. */
export function addRefusal(key: KeyState): void {
  key.unsure -= 1;
  if (key.unsure === 0) key.sentAt = null;
}
