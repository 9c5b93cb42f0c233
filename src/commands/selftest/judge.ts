import { exitCodes } from '../../exit.ts';
import { mostRetries } from '../../gate/limits.ts';
import type { Action } from '../../gate/policy.ts';
import type { Setting } from '../../settings/names.ts';
import { actionIn, callsGate, type PolicySettings, type Symptom, symptomHint, usualRuns } from './hints.ts';
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

function symptomOf(
  text: string,
  { scenario, exitCode, runsCreated, stopped }: StepResult,
  results: readonly StepResult[],
): Symptom | null {
  if (stopped) return 'timed out';
  if (exitCode === exitCodes.waiting) return 'one slice';
  const green = exitCode === 0;
  if (scenario.expected === 'red' && green) return 'passes a failure';
  if (scenario.expected === 'green' && !green) return 'fails a pass';
  // The runs of the scenarios end within the first slice.
  if (scenario.name === 'passed' && isOneSlice(text)) return 'one slice';
  // Only here does a created run prove that the step called the gate.
  if (scenario.name === 'passed' && runsCreated === 0) return 'no run';
  const usual = scenario.expected === 'green' ? (scenario.runs ?? 1) : usualRuns(scenario, results);
  if (runsCreated > usual) return 'several runs';
  return scenario.name === 'cancelled' && scenario.expected === 'any' && green ? 'lenient' : null;
}

/** Judges a step by its text, its settings and its results. Pure. */
export function judgeSteps(
  text: string,
  policy: PolicySettings,
  results: readonly StepResult[],
): readonly StepJudgement[] {
  return results.map((result) => {
    const symptom = symptomOf(text, result, results);
    const hint = symptom === null ? null : symptomHint(symptom, { text, policy, result, results });
    const isRight = symptom === null || symptom === 'several runs' || symptom === 'lenient';
    return { result, verdict: isRight ? 'ok' : symptom === 'timed out' ? 'unknown' : 'wrong', hint };
  });
}
