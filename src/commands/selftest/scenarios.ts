import type { MockOptions } from '../../mock/options.ts';

/** The expected result of the step: exit code 0, any other exit code, or either. */
export const expectations = ['green', 'red', 'any'] as const;
export type Expectation = (typeof expectations)[number];

/** A way in which the gate can end. */
export interface Scenario {
  readonly name: string;
  readonly expected: Expectation;
  /** The exit code of `rungate` itself. */
  readonly code: number;
  readonly outcome: NonNullable<MockOptions['outcome']>;
  readonly retryAfterSeconds: number;
  /** The number of runs that the gate may start; default 1. */
  readonly runs?: number;
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
  { ...usual, name: 'failed', code: 1, outcome: ['failed', 'passed'] },
  { ...usual, name: 'blocked', code: 2, outcome: ['blocked', 'passed'] },
  { ...usual, name: 'cancelled', expected: 'any', code: 4, outcome: ['cancelled', 'passed'] },
  { ...usual, name: 'timeout', code: 3, outcome: ['stuck', 'passed'], retryAfterSeconds: never },
  { ...usual, name: 'refused', code: 6, outcome: 'passed', service: 'refused' },
  { ...usual, name: 'down', code: 7, outcome: 'passed', service: 'down' },
] as const satisfies readonly Scenario[];

/** Returns the scenario for a gate with retries: all its runs fail, so a later pass is that of another gate. */
export function withRetries<Given extends Scenario>(scenario: Given, retries: number): Given {
  if (scenario.name !== 'failed') return scenario;
  const runs = retries + 1;
  return { ...scenario, runs, outcome: [...Array<'failed'>(runs).fill('failed'), 'passed'] };
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
