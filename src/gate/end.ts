import type { StopCause } from '../errors.ts';
import { exitCodeOfSignal, exitCodes, mostSevere } from '../exit.ts';
import { type Action, advised, codesOf, type Verdict, worst } from './policy.ts';
import type { End, GateState, Reason, Why } from './state.ts';

const reasonCodes: Readonly<Record<Reason, number>> = {
  'same-run': exitCodes.service,
  late: exitCodes.timeout,
  lost: exitCodes.timeout,
  'no-environment': exitCodes.timeout,
  'not-deployed': exitCodes.mismatch,
  'other-build': exitCodes.mismatch,
  'build-unread': exitCodes.unreachable,
  unread: exitCodes.unreachable,
};

const exitCodeOf = (why: Why): number => (typeof why === 'string' ? reasonCodes[why] : why.exitCode);

/** Ends the gate with the last run's verdict, made flaky or outweighed by those of its earlier runs. Without a run it fails. */
export function finish(
  gate: GateState,
  verdict: Exclude<Verdict, 'flaky'>,
  now: number,
  error: Why | null,
): void {
  const { policy } = gate.rules;
  gate.error = error;
  const mine = gate.past.filter((run) => run.mine);
  const judged = (
    of: Verdict,
    decides = mine.length,
    code: number = codesOf[of][0],
    action: Action = policy[of],
  ) => ({
    verdict: of,
    action,
    code,
    decides,
  });
  if (verdict === 'passed') {
    end(gate, judged(hasFailed(gate) ? 'flaky' : 'passed'), verdict, now);
    return;
  }
  // Only a pass makes up for a run that failed.
  const earlier = mine.map((run, index) => judged(run.verdict, index));
  const last = judged(
    verdict,
    mine.length,
    error === null ? undefined : exitCodeOf(error),
    gate.run === null ? 'fail' : policy[verdict],
  );
  // A retry that cannot start any more changes nothing.
  const all = error === 'late' && earlier.length > 0 ? earlier : [...earlier, last];
  const action = worst(all.map((one) => one.action));
  const worstOnes = all.filter((one) => one.action === action);
  const code = mostSevere(worstOnes.map((one) => one.code));
  end(gate, worstOnes.findLast((one) => one.code === code) ?? last, verdict, now);
}

/** Returns whether an earlier run of the gate failed, or may have: the last run was joined as the retry of one that was passed over. */
function hasFailed(gate: GateState): boolean {
  const isFailed = gate.past.some(({ mine, late }) => mine || late);
  return isFailed || (gate.run?.reattached === true && isJoinedRetry(gate));
}

/** Returns whether the run of the gate's key is the retry of one that was passed over, as far as the number of those tells. */
export function isJoinedRetry({ key, past, rules: { retries } }: GateState): boolean {
  const others = past.toReversed().findIndex(({ mine, verdict }) => mine || verdict !== 'failed');
  const failures = others < 0 ? past.length : others;
  return key?.trust === 'shared' && failures % (1 + retries) > 0;
}

function end(
  gate: GateState,
  { verdict, action, code, decides }: Pick<End, 'verdict' | 'action' | 'decides'> & { code: number },
  last: End['last'],
  now: number,
): void {
  const shown = gate.advisory ? (advised(action) as Action) : action;
  const exitCode = shown === 'fail' ? code : exitCodes.ok;
  gate.end = { verdict, action: shown, exitCode, by: null, skippedFor: null, decides, last, at: now };
}

export function endStopped(gate: GateState, by: StopCause | null, now: number): void {
  const exitCode = by === null ? exitCodes.ok : exitCodeOfSignal(by);
  gate.end = { ...noVerdict, action: 'fail', exitCode, by, at: now };
}

/** Ends a gate that does not wait for its run. */
export function endStarted(gate: GateState, now: number): void {
  gate.end = { ...noVerdict, action: 'pass', exitCode: exitCodes.ok, by: null, at: now };
}

const noVerdict = { verdict: null, skippedFor: null, decides: -1, last: null } as const;
