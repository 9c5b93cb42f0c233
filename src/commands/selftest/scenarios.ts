import type { TriggerBody } from '../../contract/run.ts';
import type { Verdict } from '../../gate/policy.ts';
import type { Outcome } from '../../mock/runs.ts';

/** The expected result of the step: exit code 0, any other exit code, or either. */
export const expectations = ['green', 'red', 'any'] as const;
type Expectation = (typeof expectations)[number];

export interface Scenario {
  readonly name: string;
  /** The verdict of the first gate's runs. */
  readonly verdict: Verdict;
  readonly expected: Expectation;
  /** The outcome of the first gate's runs. Those of the others pass. */
  readonly outcome: Outcome;
  readonly retryAfterSeconds: number;
  /** The number of runs that the step may start; default 1. */
  readonly runs?: number;
  /** The number of runs of the first gate that have the outcome; default 1. */
  readonly fails?: number;
  /** The selectors of gates whose failure does not stop the step: their runs pass. */
  readonly passing?: ReadonlySet<string>;
  /**
   * `refused`: the service refuses every credential. `down`: nothing is listening. Both others create the run. `broken`: every
   * status read fails. `lost`: the response is lost, and from then on nothing is listening.
   */
  readonly service: 'up' | 'refused' | 'down' | 'broken' | 'lost';
}

/** Short intervals between polls, so that a scenario takes no longer than the step itself. */
const soon = 0.05;
/**
 * Longer than any deadline. The gate never polls earlier than the service asks, so it times out at once if the next poll
 * would be after the deadline, whatever the step's --timeout, --max-attempts and --interval are.
 */
export const never = 1e9;

/** Only the first gate of a step fails. This also catches steps that retry until the gate passes. */
const usual = { expected: 'red', retryAfterSeconds: soon, service: 'up' } as const;

const unobserved = { ...usual, verdict: 'unobserved', outcome: 'passed' } as const;
const ended = <const Name extends Verdict & Outcome>(name: Name) => ({ name, verdict: name, outcome: name });

export const scenarios = [
  { ...usual, ...ended('passed'), expected: 'green' },
  { ...usual, ...ended('failed') },
  { ...usual, ...ended('blocked') },
  { ...usual, ...ended('cancelled'), expected: 'any' },
  { ...usual, name: 'timeout', verdict: 'timeout', outcome: 'stuck', retryAfterSeconds: never },
  { ...unobserved, name: 'refused', service: 'refused' },
  { ...unobserved, name: 'down', service: 'down' },
  { ...unobserved, name: 'broken', service: 'broken' },
  { ...unobserved, name: 'lost', service: 'lost' },
] as const satisfies readonly Scenario[];

/** Returns what a run runs, as a text. */
export const selectorOf = (process?: string | null, tags?: readonly string[] | null) =>
  JSON.stringify(process ?? tags);

/** Returns what decides the outcome of each run: those of the first gate that can fail do so, and all others pass. */
export function outcomeOf({ outcome, fails = 1, passing }: Scenario): (run: TriggerBody) => Outcome {
  let first: string | undefined;
  let failures = fails;
  return ({ processSlug, tags }) => {
    const selector = selectorOf(processSlug, tags);
    if (passing?.has(selector)) return 'passed';
    first ??= selector;
    if (selector !== first || failures === 0) return 'passed';
    failures -= 1;
    return outcome;
  };
}

type ScenarioName = (typeof scenarios)[number]['name'];
export const scenarioNames: readonly ScenarioName[] = scenarios.map(({ name }) => name);

export interface StepResult {
  readonly scenario: Scenario;
  readonly exitCode: number;
  readonly seconds: number;
  /** The process or the tags of each run that it created, in order. */
  readonly ran: readonly string[];
  readonly runsCreated: number;
  /** The number of these runs whose end the step has read. */
  readonly endsRead: number;
  /** The step exceeded the time limit and was stopped. */
  readonly stopped: boolean;
  /** The step ended before a process that it had started. */
  readonly leftBehind: boolean;
  readonly output: string;
}
