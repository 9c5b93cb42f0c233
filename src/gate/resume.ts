import { isOwn } from './keys.ts';
import { lastReadMs } from './limits.ts';
import { type GateState, type PlanState, timeNames } from './state.ts';

/** Returns a saved plan as another process goes on with it. Pure: `now` is the wall time in milliseconds. */
export function resumed(
  saved: PlanState,
  {
    attempt,
    behindMs,
    isReported = false,
  }: { attempt: number | null; behindMs: number; isReported?: boolean },
  now: number,
): PlanState {
  const plan = movedBack(saved, behindMs);
  plan.reported = isReported;
  const gates = Object.values(plan.gates);
  const ends = gates.map(({ end, deadline }) => (end === null ? (deadline ?? 0) : 0));
  const areSeveral = gates.length > 1;
  // A stop that was cut off is completed; one that was not is over.
  const isOver = gates.every(({ end }) => end !== null) && !(isReported && areSeveral);
  if (plan.stop?.by === 'slice' || isOver) plan.stop = null;
  if (plan.stop !== null) plan.stop.at = now;
  for (const gate of gates) {
    const { run, end } = gate;
    if (run?.cancel === 'wanted') run.cancelBy = null;
    const isSure = run !== null && (run.live || isOwn(gate, run));
    // Nothing is started after the end was reported, and no gate could begin that needs one which has failed.
    const isKept = isReported && (!isSure || (areSeveral && end?.action === 'fail'));
    if (plan.stop === null && !isFinal(gate) && !isKept) reopen(plan, gate, now);
    if (gate.end !== null) continue;
    if (gate.attempt !== attempt) distrust(gate, attempt);
    readOnceMore(gate, Math.max(now, ...ends), now);
  }
  if (plan.halt !== null && plan.gates[plan.halt.gate]?.end === null) plan.halt = null;
  return plan;
}

/** No wait gets longer because the clock was set back. */
function movedBack(plan: PlanState, byMs: number): PlanState {
  return JSON.parse(JSON.stringify(plan), (name, value) =>
    timeNames.has(name) && typeof value === 'number' ? value - byMs : value,
  );
}

/** Only the service says that a run has passed, and a run or an error of another kind may be another one by now. */
const isFinal = ({ run, end }: GateState): boolean =>
  end === null || (end.by === null && end.action === 'fail' && run?.outcome?.ended === true);

function reopen({ environments }: PlanState, gate: GateState, now: number): void {
  const { run, environment, key } = gate;
  Object.assign(gate, { end: null, error: null, pageReads: 0, confirmBy: null, lastReadBy: null });
  const prepared = environment === null ? undefined : environments[environment];
  // One that may exist is looked for again before a run is created in it.
  const isNeeded = run === null && key?.sentAt === null;
  if (prepared !== undefined && isNeeded)
    prepared.step = ['deleted', 'wanted', 'none'].includes(prepared.step) ? 'wanted' : 'creating';
  else if (prepared?.step === 'kept') prepared.step = 'ready';
  if (run === null) return;
  Object.assign(run, { outcome: null, trouble: null, failures: 0, foreign: 0, missingSince: null, due: now });
  if (run.cancel !== 'accepted') Object.assign(run, { cancel: 'no', cancelBy: null });
}

/** A re-run of the job has not seen what an earlier one saw, so its runs are those of another job until a read shows them in progress. */
function distrust(gate: GateState, attempt: number | null): void {
  const { run, key } = gate;
  gate.attempt = attempt;
  if (run !== null) Object.assign(run, { live: false, replayed: null });
  if (key !== null && key.trust !== 'given' && key.sentAt !== null) key.trust = 'shared';
}

/** A process that goes on after the timeout still reads its run, while other gates go on: it may have ended in time. */
function readOnceMore(gate: GateState, until: number, now: number): void {
  const { run, deadline } = gate;
  if (run === null || run.outcome !== null || deadline === null || now < deadline) return;
  gate.lastReadBy = until + lastReadMs;
  // Not when somebody asks for its verdict, perhaps a day later.
  run.endedAt ??= deadline;
}
