import type { MockOptions } from '../../mock/options.ts';

/** What the pipeline step should do: end with 0, with anything else, or as it likes. */
export const expectations = ['green', 'red', 'any'] as const;
export type Expectation = (typeof expectations)[number];

/** A way for the gate to end. */
export interface Scenario {
  readonly name: string;
  readonly expected: Expectation;
  /** What `rungate` itself exits with. */
  readonly code: number;
  readonly outcome: NonNullable<MockOptions['outcome']>;
  readonly retryAfterSeconds: number;
  /** `refused`: no credential works. `down`: nobody listens. */
  readonly service: 'up' | 'refused' | 'down';
}

/** Polls that come quickly, so that a scenario takes no longer than the step itself. */
const soon = 0.05;
/**
 * Longer than any deadline. A wait is never made shorter than the service asks, so one that would pass the deadline ends
 * the gate at once, as a timeout: whatever the step's --timeout, --max-attempts and --interval are.
 */
const never = 1e9;

/** Only the first run of a step goes wrong: who tries again until it is green is caught, too. */
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

export type ScenarioName = (typeof scenarios)[number]['name'];
export const scenarioNames: readonly ScenarioName[] = scenarios.map(({ name }) => name);

/** What one run of the step came to. */
export interface StepResult {
  readonly scenario: Scenario;
  readonly exitCode: number;
  readonly seconds: number;
  readonly runsCreated: number;
  /** How many of those it has seen end. */
  readonly endsRead: number;
  /** It had not ended within the time limit, and was stopped. */
  readonly stopped: boolean;
  /** It had ended before what it had started. */
  readonly leftBehind: boolean;
  /** The last of what it printed. */
  readonly output: string;
}
