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
  /** The symptoms that it explains; by default only `passes a failure`. */
  readonly symptoms?: readonly Symptom[];
  /** A pattern that the step's text must match. */
  readonly text?: RegExp;
  /** A pattern in the step's text that rules the cause out. */
  readonly unless?: RegExp;
  /** A condition on what the step did. */
  readonly when?: (evidence: Evidence) => boolean;
  readonly hint: string | ((evidence: Evidence) => string);
}

/** Matches a call of rungate by any path: `npx rungate`, `bin/rungate.js`; not a variable RUNGATE_… or another file. */
const gate = String.raw`\brungate(?:\.js)?(?=[\s"')]|$)`;
const onLine = (before: string, after: string) => new RegExp(`${before}${gate}${after}`, 'm');
/** Matches a script that waits for a slice and never for the next one. */
export const isOneSlice = (text: string) => /--slice\b/.test(text) && !/\b(?:until|while|for)\b/.test(text);
export const startsRun = /\brun\s+trigger\b/;
/** Matches `rungate gate`, also by a variable (`$RUNGATE gate`). */
export const callsGate =
  /(?:\brungate(?:\.js|@[\w.-]{1,40})?|\$\{?\w{1,40}\}?)["')]?\s{1,9}(?:-\S{1,80}\s{1,9}){0,3}gate\b(?![\w./-])/;
const waits = (text: string) => /--wait\b|\brun\s+wait\b/.test(text) || callsGate.test(text);
const losesRun = ['passes a failure', 'no run'] as const;

/** Returns the action that a step's last `--on` gives a verdict, alone or in a list: `--on failed=warn,blocked=warn`. */
export function actionIn(text: string, verdict: Verdict): string | undefined {
  const pattern = new RegExp(`--on[ =]['"]?(?:\\w+=\\w+,)*${verdict}=(pass|warn|fail)`, 'g');
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

const actionByOption = ({ text, result }: Evidence) => actionIn(text, result.scenario.verdict);

function allowedByOption(evidence: Evidence): boolean {
  return ['warn', 'pass'].includes(actionByOption(evidence) ?? '');
}

function allowedBySettings(evidence: Evidence): boolean {
  const { value, origin } = evidence.policy[evidence.result.scenario.verdict];
  return value !== 'fail' && origin !== 'default' && actionByOption(evidence) === undefined;
}

/** Tells whether the same gate fails the step in another scenario, so that only some exit codes are lost. */
function failsElsewhere({ results, result }: Evidence): boolean {
  if (result.runsCreated > 1) return false;
  return results.some(
    (other) =>
      other !== result &&
      // With several runs, it may be another gate that fails the step.
      other.runsCreated <= 1 &&
      other.scenario.expected === 'red' &&
      other.scenario.service === 'up' &&
      !other.stopped &&
      other.exitCode !== 0,
  );
}

/** Returns the number of runs that the step may create in a scenario: as many as if all pass, with the retries. */
export function usualRuns({ runs = 1 }: Scenario, results: readonly StepResult[]): number {
  return Math.max(runs, results.find(({ scenario }) => scenario.expected === 'green')?.runsCreated ?? 1);
}

/** Tells whether the step created no run in any scenario in which the service was up. */
function createsNoRun({ results }: Evidence): boolean {
  return results.every(({ scenario, runsCreated }) => scenario.service !== 'up' || runsCreated === 0);
}

/** Returns the scenarios that show whether a step waits. In `timeout` no run ends, and a gate still running may be waiting. */
function endedResults(results: readonly StepResult[]): readonly StepResult[] {
  return results.filter(
    ({ scenario, stopped, leftBehind }) =>
      scenario.service === 'up' && scenario.verdict !== 'timeout' && !stopped && !leftBehind,
  );
}

/** Tells whether the step starts runs and never reads the end of one. */
function startsOnly({ text, results }: Evidence): boolean {
  const ended = endedResults(results);
  if (ended.length > 0) return ended.every((result) => result.runsCreated > 0 && result.endsRead === 0);
  return startsRun.test(text) && !waits(text);
}

/** Tells whether the step starts several runs and reads the end of only some. */
function waitsForSome({ results }: Evidence): boolean {
  return endedResults(results).some((result) => result.endsRead > 0 && result.endsRead < result.runsCreated);
}

/** Tells whether the step passes in a scenario that should fail, and no policy allows it: it loses the exit code. */
function losesFailure(evidence: Evidence): boolean {
  return evidence.results.some((result) => {
    const inScenario = { ...evidence, result };
    const isGreen = result.scenario.expected === 'red' && result.exitCode === 0;
    return isGreen && !allowedByOption(inScenario) && !allowedBySettings(inScenario);
  });
}

/** Likely causes with their remedies, most specific first. The first match is used. */
export const causes: readonly HintRow[] = [
  {
    symptoms: ['timed out'],
    text: /\b(?:until|while)\b/,
    hint: 'the step retries in a loop and did not end: let the gate wait (--timeout), and run it once',
  },
  { symptoms: ['timed out'], hint: 'the step did not end in time: if it needs longer, raise --time-limit' },
  {
    symptoms: ['no run', 'fails a pass'],
    text: /--api-url\b/,
    hint: '--api-url directs the step to another service: remove it and set RUNGATE_API_URL',
  },
  {
    symptoms: ['passes a failure', 'no run', 'fails a pass'],
    text: /\bRUNGATE_(?:API_URL|API_KEY|TOKEN)=/,
    when: createsNoRun,
    hint: 'the step itself sets RUNGATE_API_URL or a credential: set them outside the step',
  },
  {
    text: onLine('', String.raw`[^\n|;&]*\n[ \t]*--[a-z]`),
    hint: 'the options on the next line are not part of the command: join the lines, in YAML with ">-" instead of "|"',
  },
  {
    text: /\brun\s+status\b/,
    when: ({ text }) => !waits(text),
    hint: 'run status exits with 0 in every state: use run wait or rungate gate',
  },
  {
    when: startsOnly,
    hint: 'the step starts a run but does not wait for it: use rungate gate, or run wait after it',
  },
  {
    symptoms: ['fails a pass'],
    when: ({ result }) => result.output.includes('no effect without --wait'),
    hint: 'the step uses options of the gate but does not wait for the run: use rungate gate',
  },
  {
    when: allowedByOption,
    hint: 'an --on option lets this verdict pass: remove it',
  },
  {
    when: ({ result }) => result.scenario.harmless === true,
    hint: 'no gate of the step stops it here: each one is advisory, or its policy lets this verdict pass',
  },
  {
    when: allowedBySettings,
    hint: ({ policy, result }) => {
      const { origin, detail } = policy[result.scenario.verdict];
      return `a setting lets this verdict pass (${detail ?? origin}): remove it from "on" there`;
    },
  },
  {
    symptoms: ['passes a failure', 'several runs'],
    unless: callsGate,
    when: waitsForSome,
    hint: 'the step starts several runs but does not wait for all of them: pass the id of every run to run wait',
  },
  {
    symptoms: ['passes a failure', 'several runs'],
    text: onLine(String.raw`\b(?:until|while)\b[^\n]*`, ''),
    hint: 'the step retries until the gate passes, and ignores the failed run: run the gate once',
  },
  {
    symptoms: ['passes a failure', 'several runs'],
    when: ({ result, results }) =>
      result.runsCreated > usualRuns(result.scenario, results) && result.scenario.expected !== 'green',
    hint: 'the step starts another run after a failed one: trigger once, and exit with the code of that run',
  },
  {
    text: /\|\|/,
    when: ({ text, result }) => text.split(callsGate).length > 2 && result.scenario.turn === undefined,
    hint: 'the step runs the gates again after a failure: run them once; "retries" of a gate starts failed runs again',
  },
  {
    symptoms: losesRun,
    text: /--dry-run\b/,
    when: createsNoRun,
    hint: '--dry-run starts no run: remove it',
  },
  {
    text: onLine(
      '',
      String.raw`[^\n]*\|\|\s*(?:(?:/bin/)?true\b|:(?=\s|$|["';)])|(?:exit|return)\s+0\b|echo\b|printf\b)`,
    ),
    hint: '"||" after the gate hides its exit code: remove it; to clean up afterwards, use trap … EXIT',
  },
  {
    text: /continue-on-error|allow_failure|ignore[-_]errors?|failure[-_]ok/i,
    hint: 'a setting that continues on errors hides the exit code: run the gate without it',
  },
  {
    text: onLine('', String.raw`[^\n|;]*(?:\|\|[^\n|;]*)*(?<!\|)\|&?(?!\|)`),
    unless: /-\w*o\s+pipefail\b|PIPESTATUS|pipestatus/,
    hint: 'the exit code of a pipe is that of its last command, not of the gate: use set -o pipefail (bash), or write to a file without a pipe',
  },
  {
    symptoms: losesRun,
    text: onLine('', String.raw`[^\n;]*?(?<![>&<|])&(?![&>\d-])`),
    unless: /\bwait\s+["']?[$%]/,
    hint: 'the gate runs in the background (&), and its exit code is never read: remove the &, or add wait "$pid"',
  },
  {
    symptoms: losesRun,
    when: ({ result }) => result.leftBehind,
    hint: 'the step ended before a process that it started: run the gate in the foreground, preferably with exec',
  },
  {
    symptoms: losesRun,
    when: createsNoRun,
    hint: 'the step ended without starting a run, so the gate tested nothing: check that the step calls rungate',
  },
  {
    text: onLine(String.raw`\bif\s+(?:!\s*)?[^\n;]*`, ''),
    hint: '"if" hides the exit code of the gate: end the failing branch with exit 1, or call the gate without "if"',
  },
  {
    symptoms: ['passes a failure', 'fails a pass'],
    text: onLine(String.raw`(?:^|[;&|({]|\bdo\b|\bthen\b)[ \t]*![ \t][^\n;|&]*`, ''),
    hint: '"!" inverts the exit code of the gate: remove it',
  },
  {
    text: /\btrap\s+(['"])[^\n]*\bexit\s+0\b[^\n]*\1\s[^\n]*\bEXIT\b/,
    hint: 'the trap ends the step with exit 0: remove exit from the trap',
  },
  {
    text: onLine(String.raw`\b(?:local|export|declare|readonly|typeset)\b[^\n]*(?:\$\(|\x60)[^\n]*`, ''),
    hint: 'local, export and similar commands return 0 even if $(…) fails: assign the variable on a separate line',
  },
  {
    text: onLine(String.raw`(?:\b(?:echo|printf|test)\b[^\n;|&]*(?:\$\(|\x60)|<\()[^\n]*`, ''),
    hint: 'the exit code of $(…) or <(…) inside another command is lost: run the gate as a separate command',
  },
  {
    when: ({ results }) => results.some(({ readByOthers }) => readByOthers),
    hint: 'the step itself checks how the run ended: leave that to rungate gate or run wait',
  },
  {
    when: failsElsewhere,
    hint: ({ result }) =>
      `the step ignores the gate's exit code ${result.scenario.code}, but not other codes: end every branch with exit "$code"`,
  },
  {
    text: /\bset\s+\+e\b|\bset\s+\+o\s+errexit\b/,
    hint: 'after set +e, a failed gate does not end the step: save the exit code, and end with exit "$code"',
  },
  {
    text: onLine('', String.raw`[^\n;]*(?:;|\n)\s*\S`),
    unless: /\bset[ \t]+-[a-zA-Z]*e|\berrexit\b|\b[a-z]{0,2}sh[ \t]+-[a-zA-Z]*e/,
    hint: 'a command after the gate decides the exit code: start with set -e, or call the gate last, with exec',
  },
  {
    hint: 'the exit code of the gate is lost: call the gate last, with exec, or end the step with exit and that code',
  },
  {
    symptoms: ['fails a pass'],
    when: ({ result }) => result.exitCode === 127 || result.exitCode === 126,
    hint: 'the step calls a command that does not exist or is not executable: see its output',
  },
  {
    symptoms: ['fails a pass'],
    when: ({ result }) => result.exitCode === 64 || result.exitCode === 78,
    hint: 'rungate rejected its arguments or settings: see the output of the step',
  },
  {
    symptoms: ['fails a pass'],
    hint: 'the step fails although the gate passes: another command in it fails; see its output',
  },
  {
    symptoms: ['one slice'],
    hint: 'the step waits for one slice only, and 75 means that the gate goes on: leave out --slice, or repeat the command while it exits with 75',
  },
  { symptoms: ['several runs'], hint: 'the step started more than one run: check that this is intended' },
  {
    symptoms: ['lenient'],
    when: allowedByOption,
    hint: 'an --on option lets a cancelled run pass, although it did not finish: remove it, and add --strict',
  },
  {
    symptoms: ['lenient'],
    text: /--no-strict\b/,
    hint: '--no-strict lets a cancelled run pass, although it did not finish: use --strict',
  },
  {
    symptoms: ['lenient'],
    hint: 'the step lets a cancelled run pass, although it did not finish: add --strict',
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

export function symptomHint(seen: Symptom, evidence: Evidence): string {
  const { text } = evidence;
  // A step that loses other exit codes needs more than --strict.
  const symptom = seen === 'lenient' && losesFailure(evidence) ? 'passes a failure' : seen;
  const cause = causes.find(
    (cause) =>
      (cause.symptoms ?? ['passes a failure']).includes(symptom) &&
      (cause.text?.test(text) ?? true) &&
      !cause.unless?.test(text) &&
      (cause.when?.(evidence) ?? true),
  );
  const hint = cause?.hint ?? 'see the output of the step';
  return typeof hint === 'string' ? hint : hint(evidence);
}
