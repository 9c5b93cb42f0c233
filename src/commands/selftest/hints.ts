import type { Action, Verdict } from '../../gate/policy.ts';
import type { Setting } from '../../settings/names.ts';
import type { Scenario, StepResult } from './scenarios.ts';

/**
 * The ways in which a step is wrong. `no run`: it created no run although the service was up. `several runs`: it created more
 * than one. `one slice`: it ends with the first slice. `lenient`: it passes a cancelled run.
 */
export type Symptom =
  | 'passes a failure'
  | 'fails a pass'
  | 'no run'
  | 'timed out'
  | 'several runs'
  | 'one slice'
  | 'lenient';

export type PolicySettings = Readonly<Record<Verdict, Setting<Action>>>;

/** The evidence about a step: its text without comments, its settings, and its result in each scenario. */
export interface Evidence {
  readonly text: string;
  readonly policy: PolicySettings;
  readonly result: StepResult;
  readonly results: readonly StepResult[];
}

interface HintRow {
  readonly symptoms: readonly Symptom[];
  /** A pattern that the step's text must match. */
  readonly text?: RegExp;
  /** A pattern in the step's text that rules the cause out. */
  readonly unless?: RegExp;
  /** A condition on what the step did. */
  readonly when?: (evidence: Evidence) => boolean;
  readonly hint: string;
}

/** Matches a call of rungate by any path: `npx rungate`, `bin/rungate.js`; not a variable RUNGATE_… or another file. */
const gate = String.raw`\brungate(?:\.js)?(?=[\s"')]|$)`;
const onLine = (before: string, after: string) => new RegExp(`${before}${gate}${after}`, 'm');
/** Matches a script that waits for a slice and never for the next one. */
export const isOneSlice = (text: string) => /--slice\b/.test(text) && !/\b(?:until|while|for)\b/.test(text);
/** Matches `rungate gate`, also by a variable (`$RUNGATE gate`). */
export const callsGate =
  /(?:\brungate(?:\.js|@[\w.-]{1,40})?|\$\{?\w{1,40}\}?)["')]?\s{1,9}(?:-\S{1,80}\s{1,9}){0,3}gate\b(?![\w./-])/;

/** Returns the action that a step's last `--on` gives a verdict, alone or in a list: `--on failed=warn,blocked=warn`. */
export function actionIn(text: string, verdict: Verdict): string | undefined {
  const pattern = new RegExp(`--on[ =]['"]?(?:\\w+=\\w+,)*${verdict}=(pass|warn|fail)`, 'g');
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

/** Tells whether an option, a setting or the project file's gates let the verdict pass. */
function isAllowed({ text, policy, result: { scenario, ran } }: Evidence): boolean {
  if (ran.length > 0 && ran.every((selector) => scenario.passing?.has(selector))) return true;
  const { value, origin } = policy[scenario.verdict];
  const action = actionIn(text, scenario.verdict) ?? (origin === 'default' ? 'fail' : value);
  return action !== 'fail';
}

/** Returns the number of runs that the step may create in a scenario: as many as if all pass, with the retries. */
export function usualRuns({ runs = 1 }: Scenario, results: readonly StepResult[]): number {
  return Math.max(runs, results.find(({ scenario }) => scenario.expected === 'green')?.runsCreated ?? 1);
}

/** Tells whether the step created no run in any scenario in which the service was up. */
function createsNoRun({ results }: Evidence): boolean {
  return results.every(({ scenario, runsCreated }) => scenario.service !== 'up' || runsCreated === 0);
}

/** Tells whether the step never read the end of a run that had ended. In `timeout` no run ends. */
function doesNotWait({ text, results }: Evidence): boolean {
  const ended = results.filter(
    ({ scenario, stopped, leftBehind }) =>
      scenario.service === 'up' && scenario.verdict !== 'timeout' && !stopped && !leftBehind,
  );
  if (ended.length > 0) return ended.some((result) => result.endsRead < result.runsCreated);
  return /\brun\s+trigger\b/.test(text) && !/--wait\b|\brun\s+wait\b/.test(text);
}

const losesRun = ['passes a failure', 'no run'] as const;

/** Likely causes with their remedies, most specific first. The first match is used. */
const causes: readonly HintRow[] = [
  {
    symptoms: ['timed out'],
    hint: 'the step did not end in time: let the gate wait instead of a loop, or raise --time-limit',
  },
  {
    symptoms: ['passes a failure', 'several runs'],
    unless: callsGate,
    when: doesNotWait,
    hint: 'the step does not wait for every run that it starts: use rungate gate, or run wait with every id',
  },
  {
    symptoms: ['passes a failure', 'lenient'],
    when: isAllowed,
    hint: 'an --on option, a setting or an advisory gate lets this verdict pass: remove it',
  },
  {
    symptoms: ['passes a failure', 'several runs'],
    when: ({ text, result, results }) =>
      onLine(String.raw`\b(?:until|while)\b[^\n]*`, '').test(text) ||
      (result.runsCreated > usualRuns(result.scenario, results) && result.scenario.expected !== 'green'),
    hint: 'the step starts another run after a failed one: run the gate once; --retries starts failed runs again',
  },
  {
    symptoms: ['passes a failure'],
    text: onLine(
      '',
      String.raw`[^\n]*\|\|\s*(?:(?:/bin/)?true\b|:(?=\s|$|["';)])|(?:exit|return)\s+0\b|echo\b|printf\b)`,
    ),
    hint: '"||" after the gate hides its exit code: remove it; to clean up afterwards, use trap … EXIT',
  },
  {
    symptoms: ['passes a failure'],
    text: onLine('', String.raw`[^\n|;]*(?:\|\|[^\n|;]*)*(?<!\|)\|&?(?!\|)`),
    unless: /-\w*o\s+pipefail\b|PIPESTATUS|pipestatus/,
    hint: 'the exit code of a pipe is that of its last command, not of the gate: use set -o pipefail (bash), or write to a file without a pipe',
  },
  {
    symptoms: losesRun,
    when: ({ text, result }) =>
      result.leftBehind ||
      (onLine('', String.raw`[^\n;]*?(?<![>&<|])&(?![&>\d-])`).test(text) &&
        !/\bwait\s+["']?[$%]/.test(text)),
    hint: 'the gate runs in the background (&), and its exit code is never read: remove the &, or add wait "$pid"',
  },
  {
    symptoms: losesRun,
    when: createsNoRun,
    hint: 'the step ended without starting a run, so the gate tested nothing: check that the step calls rungate, and sets no address or credential itself',
  },
  {
    symptoms: ['passes a failure'],
    hint: 'the exit code of the gate is lost: start with set -e, call the gate last, with exec, or end the step with exit and that code',
  },
  {
    symptoms: ['fails a pass'],
    hint: 'the step fails although the gate passes: see the output of the step',
  },
  {
    symptoms: ['one slice'],
    hint: 'the step waits for one slice only, and 75 means that the gate goes on: leave out --slice, or repeat the command while it exits with 75',
  },
  { symptoms: ['several runs'], hint: 'the step started more than one run: check that this is intended' },
  {
    symptoms: ['lenient'],
    hint: 'the step lets a cancelled run pass, although it did not finish: use --strict',
  },
];

/** Bounds the time that the patterns take. Lines that people write are shorter. */
const maxLineLength = 1000;

/** Prepares a shell script for the patterns: joins continued lines and removes comments. */
export function normaliseScript(text: string): string {
  const lines = text.replace(/\\\r?\n/g, ' ').split(/\r?\n/);
  return lines
    .map((line) =>
      line
        .slice(0, maxLineLength)
        .replace(/^#!/, '')
        .replace(/(?:^|[ \t])#(?:[ \t!].*)?$|^[ \t]*#.*$/, ''),
    )
    .join('\n');
}

export function symptomHint(symptom: Symptom, evidence: Evidence): string {
  const { text } = evidence;
  const cause = causes.find(
    (row) =>
      row.symptoms.includes(symptom) &&
      (row.text?.test(text) ?? true) &&
      !row.unless?.test(text) &&
      (row.when?.(evidence) ?? true),
  );
  return cause?.hint ?? 'see the output of the step';
}
