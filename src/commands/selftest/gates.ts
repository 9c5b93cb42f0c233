import type { TriggerBody } from '../../contract/run.ts';
import { selected } from '../../gate/plan/graph.ts';
import type { Verdict } from '../../gate/verdict.ts';
import type { Outcome } from '../../mock/outcomes.ts';
import { policyOf } from '../../settings/merge.ts';
import type { GateSettings } from '../config/sources.ts';
import { runsGates, startsRun } from './hints.ts';
import { looksStrict, retriesIn } from './judge.ts';
import type { Scenario } from './scenarios.ts';

/** Returns the gates that the commands of a step name, with those that they need; all gates if a command names none. */
function namedGates(text: string, gates: readonly GateSettings[]): readonly GateSettings[] {
  const nodes = gates.map((gate) => ({ ...gate, needs: gate.needs ?? [], advisory: gate.advisory ?? false }));
  const calls = [...text.matchAll(/\brun\s+gates\b([^\n;|&]*)/g)].map(([, words = '']) =>
    words.split(/[\s'"]+/).filter((word) => gates.some(({ name }) => name === word)),
  );
  return calls.some((names) => names.length === 0) ? gates : selected(nodes, calls.flat());
}

/** Returns the gates of the project file that a step seems to run; null if it runs none. */
export function gatesOf(text: string, gates: readonly GateSettings[]): readonly GateSettings[] | null {
  if (runsGates.test(text)) return namedGates(text, gates);
  return gates.length === 0 || startsRun.test(text) ? null : gates;
}

/** Tells whether a gate fails the step in a scenario. */
function stopsStep({ advisory, settings }: GateSettings, { name, service }: Scenario, text: string): boolean {
  if (advisory === true || service !== 'up' || name === 'passed') return advisory !== true;
  const action = policyOf(settings)[name as Verdict].value;
  return name === 'cancelled' ? looksStrict(text, action) : action === 'fail';
}

const selectorOf = (process?: string | null, tags?: readonly string[] | null) =>
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

/** Returns what decides the outcome of each run: the first gate that can fail does, with its retries, and all later runs pass. */
export function failingFirst({ outcome, fails = 1, failures }: Scenario): (run: TriggerBody) => Outcome {
  let first: string | null = null;
  let left = 0;
  return ({ processSlug, tags }) => {
    const own = selectorOf(processSlug, tags);
    const count = failures?.get(own) ?? fails;
    if (first === null && count > 0) [first, left] = [own, count];
    if (own !== first || left === 0) return 'passed';
    left -= 1;
    return outcome;
  };
}
