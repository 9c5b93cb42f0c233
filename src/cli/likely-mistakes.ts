import type { Command, Option } from 'commander';
import { noList } from '../commands/no-list.ts';

/** A word of the command line that its command does not know: as a subcommand, an option or a further argument. */
export interface Mistake {
  readonly kind: 'command' | 'option' | 'argument';
  readonly command: Command;
  /** The command's full name, and what follows it: for a command all arguments, otherwise the word. */
  readonly line: string;
  readonly word: string;
  /** The option before an argument, and whether the argument directly follows it. */
  readonly after?: Option | undefined;
  readonly isNext?: boolean;
}

/** A pattern is for the line. */
type MistakeRow = readonly [
  applies: RegExp | ((mistake: Mistake) => boolean),
  hint: string | ((mistake: Mistake) => string),
];

const word = (pattern: RegExp) => (mistake: Mistake) => pattern.test(mistake.word);
const has = ({ command }: Mistake, name: string) => command.options.some(({ long }) => long === name);
/** Whether an argument follows an option that takes no value. */
const isValue = ({ after, isNext }: Mistake) => after !== undefined && isNext === true && !after.required;
const negated = (option: string) => option.replace(/^--/, '--no-');

/**
 * Likely mistakes of a new user, and words of other tools, with what to write instead. The first row that applies counts. No hint
 * repeats an argument, which may be a secret.
 */
const rows: Readonly<Record<Mistake['kind'], readonly MistakeRow[]>> = {
  command: [
    [
      /^rungate (?:tests?|start|check)\b/,
      'rungate gate starts a test run and waits for it; rungate run trigger only starts it',
    ],
    [/^rungate (?:runs|runs? (?:list|ls))$/, noList.run],
    [/^rungate keys? (?:list|ls)$/, noList.keys],
    [/^rungate (?:auth|whoami)\b/, 'write rungate login, or rungate doctor to check the credential'],
  ],
  option: [
    // commander also reports an option as unknown if it has a value that it does not take.
    [
      (mistake) => has(mistake, mistake.word),
      (mistake) =>
        `${mistake.word} takes no value: write it alone${has(mistake, negated(mistake.word)) ? `, or ${negated(mistake.word)}` : ''}`,
    ],
    [
      /^rungate gate --(?:no-)?wait$/,
      'rungate gate always waits: leave it out; rungate run trigger only starts a run',
    ],
    [
      (mistake) => /^(?:-o|--output)$/.test(mistake.word) && !has(mistake, '--output-file'),
      'write --json or --format <format>',
    ],
    [word(/^--(?:no-)?colou?r$/), 'set NO_COLOR=1 in the environment for output without colours'],
  ],
  argument: [
    [word(/^$/), 'the argument is empty: check the variable that it comes from'],
    [word(/^[–—−]/), 'the argument begins with a long dash: type two hyphens instead'],
    [
      word(/^[\\`^]$|^\s*$|^\s+-/),
      'to continue a line, end it with \\ in sh, ^ in cmd or ` in PowerShell, and nothing after that character',
    ],
    [
      (mistake) => isValue(mistake) && mistake.after?.long === '--json',
      '--json takes no value and prints every field: to select fields, use jq',
    ],
    [isValue, ({ after }) => `${after?.long} takes no value: write it alone, or leave it out`],
    [/^rungate config set /, 'separate several values with commas: smoke,nightly'],
    [/^rungate env vars (?:create|update) .*=/s, 'write --field name=A --field value=1'],
    [
      ({ after }) => after?.parseArg !== undefined,
      ({ after }) => `repeat ${after?.long} for each value, or put it in quotes`,
    ],
    [() => true, 'put quotes around a value with spaces; an option begins with --'],
  ],
};

export function likelyMistake(mistake: Mistake): string | null {
  const applies = ([condition]: MistakeRow) =>
    condition instanceof RegExp ? condition.test(mistake.line) : condition(mistake);
  const [, hint = null] = rows[mistake.kind].find(applies) ?? [];
  return typeof hint === 'function' ? hint(mistake) : hint;
}

/** Command names of other tools and their equivalents in rungate, of which the first one in the group is suggested. */
export const synonyms: ReadonlyMap<string, readonly string[]> = new Map([
  ...['environment', 'environments', 'envs'].map((name): [string, string[]] => [name, ['env']]),
  ...['view', 'show', 'describe', 'get'].map((name): [string, string[]] => [name, ['get', 'status', 'list']]),
  ...['rm', 'remove', 'delete'].map((name): [string, string[]] => [name, ['delete', 'unset', 'cancel']]),
  ...['stop', 'abort'].map((name): [string, string[]] => [name, ['cancel']]),
  ['ls', ['list']],
  ['watch', ['wait', 'listen']],
  ['start', ['trigger']],
  ['create', ['trigger']],
  ['runs', ['run']],
  ['new', ['create', 'trigger']],
  ['add', ['create']],
  ['edit', ['update', 'set']],
  ['set', ['update']],
]);
