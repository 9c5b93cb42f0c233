import type { TriggerBody } from '../../contract/run.ts';
import { selected } from '../../gate/plan/graph.ts';
import type { Outcome } from '../../mock/state.ts';
import { policySettings } from '../../settings/merge.ts';
import type { GateSettings } from '../config/sources.ts';
import { callsGate, startsRun } from './hints.ts';
import { looksStrict, retriesIn } from './judge.ts';
import type { Scenario, StepResult } from './scenarios.ts';

/** Returns the gates of the project file that a step seems to run, with those that they need; null if it runs none. */
export function gatesOf(text: string, gates: readonly GateSettings[]): readonly GateSettings[] | null {
  if (gates.length === 0) return null;
  const calls = text
    .split(callsGate)
    .slice(1)
    .map((rest) => /^[^\n;|&]*/.exec(rest)?.[0] ?? '');
  if (calls.length === 0) return startsRun.test(text) ? null : gates;
  // Such a call runs one gate, which is not from the file.
  if (calls.some((words) => /\s--(?:process|tag)\b/.test(words))) return null;
  const named = calls.map((words) =>
    words.split(/[\s'"]+/).filter((word) => gates.some(({ name }) => name === word)),
  );
  return named.some((names) => names.length === 0) ? gates : selected(gates, named.flat());
}

function stopsStep(
  { advisory, settings }: GateSettings,
  { verdict, service }: Scenario,
  text: string,
): boolean {
  if (advisory || service !== 'up' || verdict === 'passed') return !advisory;
  const action = policySettings(settings)[verdict];
  return verdict === 'cancelled' ? looksStrict(text, action) : action.value === 'fail';
}

/** Returns what a run runs, as a text. */
export const selectorOf = (process?: string | null, tags?: readonly string[] | null) =>
  JSON.stringify(process ?? tags);

/** Returns a scenario in which the first gate fails that stops the step, with its retries. The others pass. */
export function withGates(scenario: Scenario, text: string, gates: readonly GateSettings[]): Scenario {
  const several = { ...scenario, runs: Number.POSITIVE_INFINITY };
  const stopping = gates.filter((gate) => stopsStep(gate, scenario, text));
  if (gates.length > 0 && stopping.length === 0) return { ...several, harmless: true };
  const selector = ({ settings: { process, tags } }: GateSettings) => selectorOf(process?.value, tags?.value);
  const failures = new Map(gates.map((gate) => [selector(gate), 0]));
  const chosen = new Set(stopping.map(selector));
  // The runs of gates with the same process look the same to the mock, so all of them fail.
  for (const gate of gates.filter((one) => chosen.has(selector(one)))) {
    const retries = scenario.name === 'failed' ? retriesIn(text, gate.settings.retries?.value ?? 0) : 0;
    failures.set(selector(gate), (failures.get(selector(gate)) ?? 0) + 1 + retries);
  }
  return { ...several, failures };
}

/**
 * Returns a scenario for each run of the step that did not fail in the scenario `failed`: this run fails, and the others pass.
 * @param passed the result of the scenario `passed`
 */
export function inTurn({ scenario, ran: inFailed }: StepResult, { ran }: StepResult): Scenario[] {
  const { failures, name, runs = 1 } = scenario;
  // Gates that start at the same time create their runs in any order.
  const first = inFailed.find((selector) => failures?.get(selector) !== 0);
  const turns = ran
    .map((selector, at) => ({ selector, earlier: ran.slice(0, at).filter((one) => one === selector).length }))
    .filter(({ selector, earlier }) => {
      if (selector === first && earlier === 0) return false;
      // The runs of gates with the same process all fail in the scenario of the first.
      const count = failures?.get(selector);
      return count === undefined || (count > 0 && earlier === 0);
    });
  return turns.map((turn, at) => ({
    ...scenario,
    name: `${name}-${at + 2}`,
    runs: ran.length - 1 + runs,
    turn,
  }));
}

/**
 * Returns what decides the outcome of each run: the first gate that can fail does, or the one whose turn it is, with its
 * retries, and all other runs pass.
 */
export function failingFirst({
  outcome,
  fails = 1,
  failures,
  turn,
}: Scenario): (run: TriggerBody) => Outcome {
  let first = turn?.selector ?? null;
  let skip = turn?.earlier ?? 0;
  let left = turn === undefined ? 0 : (failures?.get(turn.selector) ?? fails);
  return ({ processSlug, tags }) => {
    const selector = selectorOf(processSlug, tags);
    const count = failures?.get(selector) ?? fails;
    if (first === null && count > 0) [first, left] = [selector, count];
    if (selector === first && skip > 0) {
      skip -= 1;
      return 'passed';
    }
    if (selector !== first || left === 0) return 'passed';
    left -= 1;
    return outcome;
  };
}
