import type { Action } from '../../gate/policy.ts';
import { hintFor, type PolicySettings, type Symptom } from './hints.ts';
import type { StepResult } from './scenarios.ts';

/** What is made of one scenario. */
export interface Judgement {
  readonly result: StepResult;
  readonly ok: boolean;
  /** What is wrong and what to do, or what to look at although it is not wrong. */
  readonly hint: string | null;
}

/**
 * Whether a step fails on a cancelled run, as far as can be seen: its own words beat the settings, and among them `--on`
 * beats `--strict`. `bySettings` is what the settings make of a cancelled run.
 */
export function looksStrict(text: string, bySettings: Action): boolean {
  const on = [...text.matchAll(/--on[ =]['"]?cancelled=(pass|warn|fail)/g)].at(-1)?.[1];
  if (on !== undefined) return on === 'fail';
  if (/--no-strict\b/.test(text)) return false;
  return /--strict\b/.test(text) || bySettings === 'fail';
}

function symptomOf({ scenario, exitCode, runsCreated, stopped }: StepResult): Symptom | null {
  if (stopped) return 'did not end';
  const green = exitCode === 0;
  if (scenario.expected === 'red' && green) return 'green for red';
  if (scenario.expected === 'green' && !green) return 'red for green';
  // A green that nobody gave: only here does the service's answer say that the gate was asked.
  if (scenario.name === 'passed' && runsCreated === 0) return 'never asked';
  if (runsCreated > 1) return 'asked again';
  return scenario.name === 'cancelled' && scenario.expected === 'any' && green ? 'lenient' : null;
}

/** Judges what a step did, from its text, its settings and all that it did. Pure. */
export function judge(
  text: string,
  policy: PolicySettings,
  results: readonly StepResult[],
): readonly Judgement[] {
  return results.map((result) => {
    const symptom = symptomOf(result);
    const hint = symptom === null ? null : hintFor(symptom, { text, policy, result, results });
    return { result, ok: symptom === null || symptom === 'asked again' || symptom === 'lenient', hint };
  });
}
