import type { StepResult } from './scenarios.ts';

/** How a step goes wrong: `never asked` created no run although the service accepts it, `asked again` created several. */
export type Symptom = 'green for red' | 'red for green' | 'never asked' | 'did not end' | 'asked again';

/** What is known of a step: its text without comments, and what it did in each scenario. */
export interface Evidence {
  readonly text: string;
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
const lostOrUnasked = ['green for red', 'never asked'] as const;

/** The policies that let a verdict of a scenario pass. */
function letBy({ text, result }: Evidence): boolean {
  const verdict = ['refused', 'down'].includes(result.scenario.name) ? 'unobserved' : result.scenario.name;
  return new RegExp(`--on[ =]['"]?${verdict}=(?:warn|pass)`).test(text);
}

/** In other scenarios red does get through: it is not the step as a whole. */
function othersAreRed({ results, result }: Evidence): boolean {
  return results.some(
    (one) => one !== result && one.scenario.expected === 'red' && !one.stopped && one.exitCode !== 0,
  );
}

/** No run, in no scenario, though the service was there. */
function neverAsked({ results }: Evidence): boolean {
  return results.every(({ scenario, runsCreated }) => scenario.service !== 'up' || runsCreated === 0);
}

/** Likely causes with their remedies; the first that fits is told. */
const causes: readonly Cause[] = [
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
    when: ({ result }) => result.runsCreated === 0 && result.scenario.service === 'up',
    says: 'the step sets RUNGATE_API_URL or a credential by itself: set them outside the step',
  },
  {
    when: letBy,
    says: 'an --on option lets this verdict pass: take it out',
  },
  {
    symptoms: ['green for red', 'asked again'],
    text: onLine(String.raw`\b(?:until|while)\b[^\n]*`, ''),
    says: 'the step tries again until the gate is green, and forgets the red run: run the gate once',
  },
  {
    symptoms: ['green for red', 'asked again'],
    when: ({ result }) => result.runsCreated > 1,
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
    text: /\btrap\s+(['"])[^\n]*\bexit\s+0\b[^\n]*\1\s[^\n]*\bEXIT\b/,
    says: 'the trap ends the step with exit 0: leave exit out of the trap',
  },
  {
    text: onLine(String.raw`\b(?:local|export|declare|readonly|typeset)\b[^\n]*(?:\$\(|\x60)[^\n]*`, ''),
    says: 'local, export and the like return 0 whatever $(…) did: assign in a line of its own',
  },
  {
    text: onLine(String.raw`\b(?:echo|printf|test)\b[^\n;|&]*(?:\$\(|\x60)[^\n]*`, ''),
    says: 'the exit code of $(…) inside another command is lost: run the gate as a command of its own',
  },
  {
    text: onLine('', String.raw`[^\n|;&]*\n[ \t]*--[a-z]`),
    says: 'the options on the next line are not part of the command: join the lines, in YAML with ">-" instead of "|"',
  },
  {
    text: /\brun\s+trigger\b/,
    unless: /--wait\b|\brun\s+wait\b/,
    says: 'run trigger without --wait only starts a run, and says nothing of its verdict: add --wait',
  },
  {
    text: /\brun\s+status\b/,
    unless: /--wait\b|\brun\s+wait\b/,
    says: 'run status ends with 0 whatever the state: gate with run wait, or run trigger --wait',
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
];

/** Longer lines were not written by a person, and would take the patterns long. */
const longestLine = 1000;

/** A shell script in a form to look for patterns in: continued lines joined, comments taken out. */
export function plainScript(text: string): string {
  const lines = text.replace(/\\\r?\n/g, ' ').split(/\r?\n/);
  return lines
    .map((line) => line.slice(0, longestLine).replace(/(?:^|[ \t])#(?:[ \t!].*)?$|^[ \t]*#.*$/, ''))
    .join('\n');
}

/** Returns the likely cause of what went wrong in a scenario, with its remedy. */
export function hintFor(symptom: Symptom, evidence: Evidence): string {
  const { text } = evidence;
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
