import type { Action } from '../../gate/policy.ts';
import type { Verdict } from '../../gate/verdict.ts';
import type { Setting } from '../../settings/names.ts';
import type { StepResult } from './scenarios.ts';

/**
 * How a step goes wrong: `never asked` created no run although the service accepts it, `asked again` created several, `lenient`
 * passes a cancelled run.
 */
export type Symptom =
  | 'green for red'
  | 'red for green'
  | 'never asked'
  | 'did not end'
  | 'asked again'
  | 'lenient';

/** What the settings make of each verdict, and which of them. */
export type PolicySettings = Readonly<Record<Verdict, Setting<Action>>>;

/** What is known of a step: its text without comments, its settings, and what it did in each scenario. */
export interface Evidence {
  readonly text: string;
  readonly policy: PolicySettings;
  readonly result: StepResult;
  readonly results: readonly StepResult[];
}

interface Cause {
  /** Without any, `green for red` alone. */
  readonly symptoms?: readonly Symptom[];
  /** Seen in the step's text, where it must be. */
  readonly text?: RegExp;
  /** Not the cause where this is in the text. */
  readonly unless?: RegExp;
  /** Seen in what the step did. */
  readonly when?: (evidence: Evidence) => boolean;
  readonly says: string | ((evidence: Evidence) => string);
}

/** A call of the gate by any path, on one line: `npx rungate`, `bin/rungate.js`; no variable RUNGATE_…, no file. */
const gate = String.raw`\brungate(?:\.js)?(?=[\s"')]|$)`;
const onLine = (before: string, after: string) => new RegExp(`${before}${gate}${after}`, 'm');
const startsWithoutWait = /\brun\s+trigger\b/;
const waits = /--wait\b|\brun\s+wait\b/;
const lostOrUnasked = ['green for red', 'never asked'] as const;

function verdictOf({ scenario }: StepResult): Verdict {
  return scenario.service === 'up' ? (scenario.name as Verdict) : 'unobserved';
}

/** What the step's own words say about the verdict; undefined where they say nothing. */
function ownAction({ text, result }: Evidence): string | undefined {
  const said = new RegExp(`--on[ =]['"]?${verdictOf(result)}=(pass|warn|fail)`, 'g');
  return [...text.matchAll(said)].at(-1)?.[1];
}

/** An option of the step lets the verdict pass. */
function letBy(evidence: Evidence): boolean {
  return ['warn', 'pass'].includes(ownAction(evidence) ?? '');
}

/** A setting lets the verdict pass, and the step's own words do not forbid it. */
function letBySettings(evidence: Evidence): boolean {
  const { value, origin } = evidence.policy[verdictOf(evidence.result)];
  return value !== 'fail' && origin !== 'default' && ownAction(evidence) === undefined;
}

/** In other scenarios red does get through: it is not the step as a whole. */
function othersAreRed({ results, result }: Evidence): boolean {
  return results.some(
    (one) =>
      one !== result &&
      one.scenario.expected === 'red' &&
      one.scenario.service === 'up' &&
      !one.stopped &&
      one.exitCode !== 0,
  );
}

/** No run, in no scenario, though the service was there. */
function neverAsked({ results }: Evidence): boolean {
  return results.every(({ scenario, runsCreated }) => scenario.service !== 'up' || runsCreated === 0);
}

/** The scenarios that show whether a step waits: in `timeout` no run ends, and a gate that is left behind may have waited. */
function thatEnd(results: readonly StepResult[]): readonly StepResult[] {
  return results.filter(
    ({ scenario, stopped, leftBehind }) =>
      scenario.service === 'up' && scenario.name !== 'timeout' && !stopped && !leftBehind,
  );
}

/** The step starts runs and never reads how one ends. */
function startsOnly({ text, results }: Evidence): boolean {
  const ended = thatEnd(results);
  if (ended.length > 0) return ended.every((one) => one.runsCreated > 0 && one.endsRead === 0);
  return startsWithoutWait.test(text) && !waits.test(text);
}

/** The step starts several runs and reads how some of them end. */
function waitsForSome({ results }: Evidence): boolean {
  return thatEnd(results).some((one) => one.endsRead > 0 && one.endsRead < one.runsCreated);
}

/** A scenario that should be red is green, and no policy says so: the exit code does not get through. */
function losesRed(evidence: Evidence): boolean {
  return evidence.results.some((result) => {
    const own = { ...evidence, result };
    const isGreen = result.scenario.expected === 'red' && result.exitCode === 0;
    return isGreen && !letBy(own) && !letBySettings(own);
  });
}

/** Likely causes with their remedies; the first that fits is told. */
export const causes: readonly Cause[] = [
  {
    symptoms: ['did not end'],
    text: /\b(?:until|while)\b/,
    says: 'the step tries again in a loop and did not end: let the gate wait (--timeout), and run it once',
  },
  { symptoms: ['did not end'], says: 'the step did not end in time: if it needs longer, raise --time-limit' },
  {
    symptoms: ['never asked', 'red for green'],
    text: /--api-url\b/,
    says: '--api-url sends the step to another service: leave it out and set RUNGATE_API_URL',
  },
  {
    symptoms: ['green for red', 'never asked', 'red for green'],
    text: /\bRUNGATE_(?:API_URL|API_KEY|TOKEN)=/,
    when: neverAsked,
    says: 'the step sets RUNGATE_API_URL or a credential by itself: set them outside the step',
  },
  {
    text: onLine('', String.raw`[^\n|;&]*\n[ \t]*--[a-z]`),
    says: 'the options on the next line are not part of the command: join the lines, in YAML with ">-" instead of "|"',
  },
  {
    when: startsOnly,
    says: 'the step starts a run and does not wait for its end: add --wait to run trigger, or gate with run wait',
  },
  {
    symptoms: ['red for green'],
    when: ({ result }) => result.output.includes('no effect without --wait'),
    says: 'the step has options of a gate and does not wait for the run: add --wait to run trigger',
  },
  {
    when: letBy,
    says: 'an --on option lets this verdict pass: take it out',
  },
  {
    when: letBySettings,
    says: ({ policy, result }) => {
      const { origin, detail } = policy[verdictOf(result)];
      return `a setting lets this verdict pass (${detail ?? origin}): remove it from "on" there`;
    },
  },
  {
    symptoms: ['green for red', 'asked again'],
    when: waitsForSome,
    says: 'the step starts several runs and does not wait for each: give run wait the id of every run',
  },
  {
    symptoms: ['green for red', 'asked again'],
    text: onLine(String.raw`\b(?:until|while)\b[^\n]*`, ''),
    says: 'the step tries again until the gate is green, and forgets the red run: run the gate once',
  },
  {
    symptoms: ['green for red', 'asked again'],
    when: ({ result }) => result.runsCreated > 1 && result.scenario.expected !== 'green',
    says: 'the step starts another run after a red one: trigger once, and end with the code of that run',
  },
  {
    text: onLine(
      '',
      String.raw`[^\n]*\|\|\s*(?:(?:/bin/)?true\b|:(?=\s|$|["';)])|(?:exit|return)\s+0\b|echo\b|printf\b)`,
    ),
    says: '|| after the gate swallows its exit code: take it out; to clean up afterwards, use trap … EXIT',
  },
  {
    text: /continue-on-error|allow_failure|ignore[-_]errors?|failure[-_]ok/i,
    says: 'a wrapper that continues on errors swallows the exit code: run the gate without it',
  },
  {
    text: onLine('', String.raw`[^\n|;]*(?:\|\|[^\n|;]*)*(?<!\|)\|&?(?!\|)`),
    unless: /-\w*o\s+pipefail\b|PIPESTATUS|pipestatus/,
    says: 'in a pipe the last command decides, not the gate: set -o pipefail (bash), or write to a file without a pipe',
  },
  {
    symptoms: lostOrUnasked,
    text: onLine('', String.raw`[^\n;]*?(?<![>&<|])&(?![&>\d-])`),
    unless: /\bwait\s+["']?[$%]/,
    says: 'the gate runs in the background (&), and nobody asks how it ended: take the & out, or wait "$pid"',
  },
  {
    symptoms: lostOrUnasked,
    when: ({ result }) => result.leftBehind,
    says: 'the step ended before what it had started: run the gate in the foreground, best with exec',
  },
  {
    symptoms: lostOrUnasked,
    when: neverAsked,
    says: 'the step ended without a run: the gate was never asked, so its green means nothing',
  },
  {
    text: onLine(String.raw`\bif\s+(?:!\s*)?[^\n;]*`, ''),
    says: 'if takes the exit code of the gate for itself: end the red branch with exit 1, or use no if',
  },
  {
    symptoms: ['green for red', 'red for green'],
    text: onLine(String.raw`(?:^|[;&|({]|\bdo\b|\bthen\b)[ \t]*![ \t][^\n;|&]*`, ''),
    says: '! turns the exit code of the gate round: take it out',
  },
  {
    text: /\btrap\s+(['"])[^\n]*\bexit\s+0\b[^\n]*\1\s[^\n]*\bEXIT\b/,
    says: 'the trap ends the step with exit 0: leave exit out of the trap',
  },
  {
    text: onLine(String.raw`\b(?:local|export|declare|readonly|typeset)\b[^\n]*(?:\$\(|\x60)[^\n]*`, ''),
    says: 'local, export and the like return 0 whatever $(…) did: assign in a line of its own',
  },
  {
    text: onLine(String.raw`(?:\b(?:echo|printf|test)\b[^\n;|&]*(?:\$\(|\x60)|<\()[^\n]*`, ''),
    says: 'the exit code of $(…) or <(…) inside another command is lost: run the gate as a command of its own',
  },
  {
    text: /\brun\s+status\b/,
    unless: waits,
    says: 'run status ends with 0 whatever the state: gate with run wait, or run trigger --wait',
  },
  {
    text: startsWithoutWait,
    unless: waits,
    says: 'the step reads by itself how the run ends: let rungate do it, with run trigger --wait or run wait',
  },
  {
    when: othersAreRed,
    says: ({ result }) =>
      `the step lets the gate's exit code ${result.scenario.code} pass, and others not: end every branch with exit "$code"`,
  },
  {
    text: /\bset\s+\+e\b|\bset\s+\+o\s+errexit\b/,
    says: 'after set +e a red gate does not end the step: keep the code, and end with exit "$code"',
  },
  {
    text: onLine('', String.raw`[^\n;]*(?:;|\n)\s*\S`),
    unless: /\bset[ \t]+-[a-zA-Z]*e|\berrexit\b|\b[a-z]{0,2}sh[ \t]+-[a-zA-Z]*e/,
    says: 'what comes after the gate decides how the step ends: begin with set -e, or call the gate last, with exec',
  },
  {
    says: "the gate's exit code is lost on the way: call it last, with exec, or hand its code on with exit",
  },
  {
    symptoms: ['red for green'],
    when: ({ result }) => result.exitCode === 127 || result.exitCode === 126,
    says: 'the step calls a command that is not there, or may not be run: see its output',
  },
  {
    symptoms: ['red for green'],
    when: ({ result }) => result.exitCode === 64 || result.exitCode === 78,
    says: 'rungate could not be started as the step calls it: see its output',
  },
  {
    symptoms: ['red for green'],
    says: 'the step is red although the gate is green: something else in it fails, see its output',
  },
  { symptoms: ['asked again'], says: 'the step started more than one run: is it meant to?' },
  {
    symptoms: ['lenient'],
    when: letBy,
    says: 'an --on option lets a cancelled run pass, which has tested nothing: take it out, and add --strict',
  },
  {
    symptoms: ['lenient'],
    text: /--no-strict\b/,
    says: '--no-strict lets a cancelled run pass, which has tested nothing: write --strict',
  },
  {
    symptoms: ['lenient'],
    says: 'a cancelled run has tested nothing, and the step lets it pass: add --strict',
  },
];

/** Longer lines were not written by a person, and would take the patterns long. */
const longestLine = 1000;

/** A shell script in a form to look for patterns in: continued lines joined, comments taken out. */
export function plainScript(text: string): string {
  const lines = text.replace(/\\\r?\n/g, ' ').split(/\r?\n/);
  return lines
    .map((line) =>
      line
        .slice(0, longestLine)
        .replace(/^#!/, '')
        .replace(/(?:^|[ \t])#(?:[ \t!].*)?$|^[ \t]*#.*$/, ''),
    )
    .join('\n');
}

/** Returns the likely cause of what went wrong in a scenario, with its remedy. */
export function hintFor(seen: Symptom, evidence: Evidence): string {
  const { text } = evidence;
  // A step that loses other red codes needs more than --strict.
  const symptom = seen === 'lenient' && losesRed(evidence) ? 'green for red' : seen;
  const found = causes.find(
    (cause) =>
      (cause.symptoms ?? ['green for red']).includes(symptom) &&
      (cause.text?.test(text) ?? true) &&
      !cause.unless?.test(text) &&
      (cause.when?.(evidence) ?? true),
  );
  const says = found?.says ?? 'see the output of the step';
  return typeof says === 'string' ? says : says(evidence);
}
