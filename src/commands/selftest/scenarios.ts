import type { Outcome } from '../../mock/outcomes.ts';

/** The expected result of the step: exit code 0, any other exit code, or either. */
export const expectations = ['green', 'red', 'any'] as const;
export type Expectation = (typeof expectations)[number];

/** A way in which the gate can end. */
export interface Scenario {
  readonly name: string;
  readonly expected: Expectation;
  /** The exit code of `rungate` itself. */
  readonly code: number;
  /** The outcome of the first gate's runs. Those of the others pass. */
  readonly outcome: Outcome;
  readonly retryAfterSeconds: number;
  /** The number of runs that the step may start; default 1. */
  readonly runs?: number;
  /** The number of runs of the first gate that have the outcome; default 1. */
  readonly fails?: number;
  /** That number for each gate of the project file, by what it runs; 0 if it does not stop the step. */
  readonly failures?: ReadonlyMap<string, number>;
  /** No gate of the project file stops the step. */
  readonly harmless?: true;
  /** `refused`: the service refuses every credential. `down`: nothing is listening. */
  readonly service: 'up' | 'refused' | 'down';
}

/** Short intervals between polls, so that a scenario takes no longer than the step itself. */
const soon = 0.05;
/**
 * Longer than any deadline. The gate never polls earlier than the service asks, so it times out at once if the next poll
 * would be after the deadline, whatever the step's --timeout, --max-attempts and --interval are.
 */
const never = 1e9;

/** Only the first gate of a step fails. This also catches steps that retry until the gate passes. */
const usual = { expected: 'red', retryAfterSeconds: soon, service: 'up' } as const;

export const scenarios = [
  { ...usual, name: 'passed', expected: 'green', code: 0, outcome: 'passed' },
  { ...usual, name: 'failed', code: 1, outcome: 'failed' },
  { ...usual, name: 'blocked', code: 2, outcome: 'blocked' },
  { ...usual, name: 'cancelled', expected: 'any', code: 4, outcome: 'cancelled' },
  { ...usual, name: 'timeout', code: 3, outcome: 'stuck', retryAfterSeconds: never },
  { ...usual, name: 'refused', code: 6, outcome: 'passed', service: 'refused' },
  { ...usual, name: 'down', code: 7, outcome: 'passed', service: 'down' },
] as const satisfies readonly Scenario[];

/** Returns the scenario for a gate with retries: all its runs fail, so a later pass is that of another gate. */
export function withRetries(scenario: Scenario, retries: number): Scenario {
  return scenario.name === 'failed' ? { ...scenario, runs: retries + 1, fails: retries + 1 } : scenario;
}

export type ScenarioName = (typeof scenarios)[number]['name'];
export const scenarioNames: readonly ScenarioName[] = scenarios.map(({ name }) => name);

/** The result of the step in one scenario. */
export interface StepResult {
  readonly scenario: Scenario;
  readonly exitCode: number;
  readonly seconds: number;
  readonly runsCreated: number;
  /** The number of these runs whose end the step has read. */
  readonly endsRead: number;
  /** The step exceeded the time limit and was stopped. */
  readonly stopped: boolean;
  /** The step ended before a process that it had started. */
  readonly leftBehind: boolean;
  /** The end of its output. */
  readonly output: string;
}
