import { exitCodes } from '../../exit.ts';
import { mostRetries } from '../../gate/limits.ts';
import type { Action } from '../../gate/policy.ts';
import type { Setting } from '../../settings/names.ts';
import {
  actionIn,
  callsGate,
  causeOfLeniency,
  causeOfLoss,
  causeOfSeveral,
  type Evidence,
  hints,
  isLeftBehind,
  type PolicySettings,
  usualRuns,
} from './hints.ts';
import type { StepResult } from './scenarios.ts';

/** Matches a script that waits for a slice and never for the next one. */
const isOneSlice = (text: string) => /--slice\b/.test(text) && !/\b(?:until|while|for)\b/.test(text);

export interface StepJudgement {
  readonly result: StepResult;
  /** `unknown`: the step was still running at the time limit, and might have ended as expected later. */
  readonly verdict: 'ok' | 'wrong' | 'unknown';
  /** The cause and the remedy; for a scenario that is ok, a warning. */
  readonly hint: string | null;
}

/**
 * Tells whether a step seems to fail on a cancelled run. Its own options override the settings, and `--on` overrides
 * `--strict`. `bySettings` is the action that the settings give a cancelled run; `rungate gate` is strict if they give none.
 */
export function looksStrict(text: string, bySettings: Setting<Action>): boolean {
  const on = actionIn(text, 'cancelled');
  if (on !== undefined) return on === 'fail';
  if (/--no-strict\b/.test(text)) return false;
  const { value, origin } = bySettings;
  return /--strict\b/.test(text) || value === 'fail' || (origin === 'default' && callsGate.test(text));
}

/** Returns the number of retries that a step seems to give its gate. Its own option overrides the settings. */
export function retriesIn(text: string, bySettings: number): number {
  const byOption = [...text.matchAll(/--retries[ =]['"]?(\d{1,2})\b/g)].at(-1)?.[1];
  return byOption === undefined ? bySettings : Math.min(Number(byOption), mostRetries);
}

function judge(evidence: Evidence): Omit<StepJudgement, 'result'> {
  const { text, result, results } = evidence;
  const { scenario, exitCode, runsCreated, stopped } = result;
  const green = exitCode === exitCodes.ok;
  const wrong = (hint: string) => ({ verdict: 'wrong', hint }) as const;
  if (stopped) return { verdict: 'unknown', hint: hints.tooLong };
  if (exitCode === exitCodes.waiting) return wrong(hints.oneSlice);
  if (scenario.expected === 'red' && green) return wrong(causeOfLoss(evidence));
  if (scenario.expected === 'green' && !green) return wrong(hints.red);
  // The runs of the scenarios end within the first slice.
  if (scenario.name === 'passed' && isOneSlice(text)) return wrong(hints.oneSlice);
  // Only here does a created run prove that the step called the gate.
  if (scenario.name === 'passed' && runsCreated === 0)
    return wrong(isLeftBehind(evidence) ? hints.leftBehind : hints.noRun);
  const usual = scenario.expected === 'green' ? (scenario.runs ?? 1) : usualRuns(scenario, results);
  if (runsCreated > usual) return { verdict: 'ok', hint: causeOfSeveral(evidence) };
  const isLenient = scenario.name === 'cancelled' && scenario.expected === 'any' && green;
  return { verdict: 'ok', hint: isLenient ? causeOfLeniency(evidence) : null };
}

/** Judges a step by its text, its settings and its results. Pure. */
export function judgeSteps(
  text: string,
  policy: PolicySettings,
  results: readonly StepResult[],
): readonly StepJudgement[] {
  return results.map((result) => ({ result, ...judge({ text, policy, result, results }) }));
}
