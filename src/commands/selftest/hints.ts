import type { Action, Verdict } from '../../gate/policy.ts';
import type { Setting } from '../../settings/names.ts';
import type { Scenario, StepResult } from './scenarios.ts';

export type PolicySettings = Readonly<Record<Verdict, Setting<Action>>>;

/** The evidence about a step: its text without comments, its settings, and its result in each scenario. */
export interface Evidence {
  readonly text: string;
  readonly policy: PolicySettings;
  readonly result: StepResult;
  readonly results: readonly StepResult[];
}

/** Matches a call of rungate by any path: `npx rungate`, `bin/rungate.js`; not a variable RUNGATE_… or another file. */
const gate = String.raw`\brungate(?:\.js)?(?=[\s"')]|$)`;
const onLine = (before: string, after: string) => new RegExp(`${before}${gate}${after}`, 'm');
const loop = onLine(String.raw`\b(?:until|while)\b[^\n]*`, '');
const orElse = onLine(
  '',
  String.raw`[^\n]*\|\|\s*(?:(?:/bin/)?true\b|:(?=\s|$|["';)])|(?:exit|return)\s+0\b|echo\b|printf\b)`,
);
const pipe = onLine('', String.raw`[^\n|;]*(?:\|\|[^\n|;]*)*(?<!\|)\|&?(?!\|)`);
const background = onLine('', String.raw`[^\n;]*?(?<![>&<|])&(?![&>\d-])`);
/** Matches `rungate gate`, also by a variable (`$RUNGATE gate`). */
export const callsGate =
  /(?:\brungate(?:\.js|@[\w.-]{1,40})?|\$\{?\w{1,40}\}?)["')]?\s{1,9}(?:-\S{1,80}\s{1,9}){0,3}gate\b(?![\w./-])/;

/** Matches a step that sends its own requests instead of calling rungate. */
const ownRequests = (text: string) => /\/ci\/runs\b/.test(text) && !onLine('', '').test(text);

/** Returns the action that a step's last `--on` gives a verdict, alone or in a list: `--on failed=warn,blocked=warn`. */
export function actionIn(text: string, verdict: Verdict): string | undefined {
  const pattern = new RegExp(`--on[ =]['"]?(?:\\w+=\\w+,)*${verdict}=(pass|warn|fail)`, 'g');
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

/** Tells whether an option, a setting or the project file's gates let the verdict pass. */
export function isAllowed({ text, policy, result: { scenario, ran } }: Evidence): boolean {
  if (ran.length > 0 && ran.every((selector) => scenario.passing?.has(selector))) return true;
  const { value, origin } = policy[scenario.verdict];
  const action = actionIn(text, scenario.verdict) ?? (origin === 'default' ? 'fail' : value);
  return action !== 'fail';
}

/** Returns the number of runs that the step may create in a scenario: as many as if all pass, with the retries. */
export function usualRuns({ runs = 1 }: Scenario, results: readonly StepResult[]): number {
  return Math.max(runs, results.find(({ scenario }) => scenario.expected === 'green')?.runsCreated ?? 1);
}

/** Tells whether the step never read the end of a run that had ended. In `timeout` no run ends. */
function doesNotWait({ text, results }: Evidence): boolean {
  const ended = results.filter(
    ({ scenario, stopped, leftBehind }) =>
      scenario.service === 'up' && scenario.verdict !== 'timeout' && !stopped && !leftBehind,
  );
  if (callsGate.test(text)) return false;
  if (ended.length > 0) return ended.some((result) => result.endsRead < result.runsCreated);
  return /\brun\s+trigger\b/.test(text) && !/--wait\b|\brun\s+wait\b/.test(text);
}

function startsAgain({ text, result: { scenario, runsCreated }, results }: Evidence): boolean {
  return loop.test(text) || (runsCreated > usualRuns(scenario, results) && scenario.expected !== 'green');
}

export function isLeftBehind({ text, result }: Evidence): boolean {
  return result.leftBehind || (background.test(text) && !/\bwait\s+["']?[$%]/.test(text));
}

/** Tells whether the step created no run in any scenario in which the service was up. */
function createsNoRun({ results }: Evidence): boolean {
  return results.every(({ scenario, runsCreated }) => scenario.service !== 'up' || runsCreated === 0);
}

export const hints = {
  tooLong:
    "the step was still running at the limit: raise --time-limit above the step's own timeout, and give each loop a limit",
  noWait: 'the step does not wait for every run that it starts: use rungate gate, or run wait with every id',
  allowed: 'an --on option, a setting or an advisory gate lets this verdict pass: remove it',
  restarts:
    'the step starts another run after a failed one: run the gate once; --retries starts failed runs again',
  orElse: '"||" after the gate hides its exit code: remove it; to clean up afterwards, use trap … EXIT',
  pipe: 'the exit code of a pipe is that of its last command, not of the gate: use set -o pipefail (bash), or write to a file without a pipe',
  leftBehind:
    'the gate runs in the background (&), and its exit code is never read: remove the &, or add wait "$pid"',
  noRun:
    'the step ended without starting a run, so the gate tested nothing: check that the step calls rungate and does not set an address or a credential',
  lost: 'the exit code of the gate is lost: start the step with set -e, call the gate last with exec, or exit with its code',
  ownRule:
    'the step reads the run itself, and its own rule lets this verdict pass: check state, failed and blocked, or use rungate gate',
  red: 'the step fails although the gate passes: see the output of the step',
  oneSlice:
    'the step waits for one slice only, and 75 means that the gate has not ended: leave out --slice, or repeat the command while it exits with 75',
  several: 'the step started more than one run: check that this is intended',
  lenient: 'the step lets a cancelled run pass, although the run did not finish: use --strict',
};

/** Returns the likely cause of a run that has no effect on the step, the most specific first. */
export function causeOfLoss(evidence: Evidence): string {
  const { text } = evidence;
  if (ownRequests(text)) return hints.ownRule;
  if (doesNotWait(evidence)) return hints.noWait;
  if (isAllowed(evidence)) return hints.allowed;
  if (startsAgain(evidence)) return hints.restarts;
  if (orElse.test(text)) return hints.orElse;
  if (pipe.test(text) && !/-\w*o\s+pipefail\b|PIPESTATUS|pipestatus/.test(text)) return hints.pipe;
  if (isLeftBehind(evidence)) return hints.leftBehind;
  return createsNoRun(evidence) ? hints.noRun : hints.lost;
}

/** Returns the likely cause of a cancelled run that passes. */
export function causeOfLeniency(evidence: Evidence): string {
  if (ownRequests(evidence.text)) return hints.ownRule;
  return isAllowed(evidence) ? hints.allowed : hints.lenient;
}

/** Returns the likely cause of several runs in a scenario that usually has one. */
export function causeOfSeveral(evidence: Evidence): string {
  if (doesNotWait(evidence)) return hints.noWait;
  return startsAgain(evidence) ? hints.restarts : hints.several;
}

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
