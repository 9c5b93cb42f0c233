import type { Command } from 'commander';
import { fullName, isRepeatable, type Misuse } from '../commands/command.ts';
import { noList } from '../commands/no-list.ts';
import { count } from '../count.ts';
import { UsageError } from '../errors.ts';
import { echoed, nearest } from '../suggest.ts';

/*
 * Likely mistakes of a new user, and words of other tools, with what to write instead. No hint repeats an argument, which may be
 * a secret.
 */

/** Commands that rungate does not have, with what to run instead. The first that matches the command line counts. */
const otherCommands: readonly (readonly [line: RegExp, hint: string])[] = [
  [
    /^rungate (?:tests?|start|check)\b/,
    'rungate gate starts a test run and waits for it; rungate run trigger only starts it',
  ],
  [/^rungate (?:runs|runs? (?:list|ls))$/, noList.run],
  [/^rungate keys? (?:list|ls)$/, noList.keys],
  [/^rungate (?:auth|whoami)\b/, 'write rungate login, or rungate doctor to check the credential'],
];

/** Names of commands in other tools with those of rungate, of which the first one in the group is suggested. */
const synonyms: ReadonlyMap<string, readonly string[]> = new Map([
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

/** Options of other tools, with the option that a command needs for the hint. */
const otherOptions: readonly (readonly [word: string, needs: string, hint: string])[] = [
  ['--retry', '--retries', 'did you mean --retries?'],
  [
    '--url',
    '--base-url',
    'write --api-url <url> for the service, or --base-url <url> for a preview deployment',
  ],
  ['--url', '--field', 'write --field url=<value> for a field, or --api-url <url> for the service'],
  ['--url', '--api-url', 'did you mean --api-url?'],
  ['--key', '--api-url', 'set RUNGATE_API_KEY in the environment: every process can read the command line'],
  ['--branch', '--ref', 'did you mean --ref?'],
  ['--sha', '--commit-sha', 'did you mean --commit-sha?'],
];

const namesIn = ({ commands }: Command) => commands.map((command) => command.name());

const below = (group: Command): Command[] =>
  group.commands.flatMap((command) => [command, ...below(command)]);

/** Suggests a command of another group: `rungate run wait` for `rungate wait`. */
function elsewhere(program: Command, word: string): string | null {
  const all = program.commands.flatMap(below);
  const near = nearest(
    word,
    all.map((command) => command.name()),
  );
  const places = all.filter((command) => command.name() === near).map(fullName);
  return places.length === 0 || places.length > 3 ? null : `did you mean ${places.join(' or ')}?`;
}

async function commandHint(
  command: Command,
  word: string,
  everyCommand: () => Promise<Command>,
): Promise<string | null> {
  const line = [fullName(command), ...command.args].join(' ');
  const other = otherCommands.find(([pattern]) => pattern.test(line));
  if (other !== undefined) return other[1];
  const names = namesIn(command);
  const isProgram = command.parent === null;
  const near = synonyms.get(word)?.find((name) => names.includes(name)) ?? nearest(word, names);
  if (near !== null) {
    const [, next = ''] = command.args;
    const group = isProgram ? await everyCommand() : command;
    const has = group.commands.some((one) => one.name() === near && namesIn(one).includes(next));
    return `did you mean ${fullName(command)} ${near}${has ? ` ${next}` : ''}?`;
  }
  if (names.length === 0) return null;
  const deeper = isProgram ? elsewhere(await everyCommand(), word) : null;
  return deeper ?? `the commands are ${names.join(', ')}`;
}

function optionHint(command: Command, word: string): string | null {
  const names = command.options.map(({ long }) => long ?? '');
  const negated = word.replace(/^--/, '--no-');
  // commander also reports an option as unknown if it has a value that it does not take.
  if (names.includes(word))
    return `${word} takes no value: write it alone${names.includes(negated) ? `, or write ${negated}` : ''}`;
  if (fullName(command) === 'rungate gate' && /^--(?:no-)?wait$/.test(word))
    return 'rungate gate always waits: leave it out; rungate run trigger only starts a run';
  if (/^(?:-o|--output)$/.test(word) && !names.includes('--output-file'))
    return 'write --json or --format <format>';
  if (/^--(?:no-)?colou?r$/.test(word)) return 'set NO_COLOR=1 in the environment for output without colours';
  const other = otherOptions.find(([name, needs]) => name === word && names.includes(needs));
  if (other !== undefined) return other[2];
  const near = nearest(word, [...names, '--help']);
  if (near !== null) return `did you mean ${near}?`;
  // Some requests may have fields that are not in the API, so any name could be one.
  if (!names.includes('--field') || !/^--[a-z-]{1,30}$/.test(word)) return null;
  return `if the service has such a field, write --field ${word.slice(2)}=<value>`;
}

function argumentHint(command: Command, word: string, argv: readonly string[]): string {
  if (word === '') return 'the argument is empty: check the variable that it comes from';
  if (/^[–—−]/.test(word)) return 'the argument begins with a long dash: type two hyphens instead';
  if (/^[\\`^]$|^\s*$|^\s+-/.test(word))
    return 'to continue a line, end it with \\ in sh, ^ in cmd or ` in PowerShell, and nothing after that character';
  const before = argv.slice(0, argv.lastIndexOf(word));
  const at = before.findLastIndex((argument) => argument.startsWith('-'));
  const [flag] = (before[at] ?? '').split('=');
  const after = command.options.find(({ short, long }) => flag !== '' && (flag === short || flag === long));
  if (after !== undefined && !after.required && at === before.length - 1)
    return `${after.long} takes no value: write it alone, or leave it out`;
  if (fullName(command) === 'rungate config set') return 'separate several values with commas: smoke,nightly';
  if (after !== undefined && isRepeatable(after))
    return `repeat ${after.long} for each value, or put it in quotes`;
  return 'put quotes around a value with spaces; an option begins with --';
}

/**
 * Returns a usage error with the most similar command or option. commander's own suggestions do not find
 * `rungate run wait` for `rungate wait`, and do not show the full name of a command.
 * @param everyCommand loads all groups; called only to search for a command
 */
export async function explain(
  { command, message, code }: Misuse,
  argv: readonly string[],
  everyCommand: () => Promise<Command>,
): Promise<UsageError> {
  const help = `see ${fullName(command)} --help`;
  const hinted = (text: string, hint: string | null) =>
    new UsageError(text, { hint: hint === null ? help : `${hint} — ${help}` });
  const [, kind, word = ''] = /^unknown (command|option) '([^'=]*)/.exec(message) ?? [];
  if (kind !== undefined) {
    // The name may be a misplaced secret, and so may the value of an option.
    const shown = echoed(word).replace(/^"|"$/g, "'");
    const hint =
      kind === 'command' ? await commandHint(command, word, everyCommand) : optionHint(command, word);
    const all = kind === 'option' ? ' --all' : '';
    return new UsageError(`unknown ${kind} ${shown}`, {
      hint: [hint ?? [], `${help}${all}`].flat().join(' — '),
    });
  }
  if (code === 'commander.excessArguments') {
    const most = command.registeredArguments.length;
    const extra = command.args[most] ?? '';
    // Any other argument may be a secret.
    const isShown = /^[–—−]|^.{0,2}$/.test(extra);
    const takes = most === 0 ? 'no arguments' : count(most, 'argument');
    const what = isShown ? echoed(extra.split('=')[0] ?? '') : `${fullName(command)} takes ${takes}`;
    return hinted(`unexpected argument: ${what}`, argumentHint(command, extra, argv));
  }
  if (code === 'missingCommand') return hinted(message, `the commands are ${namesIn(command).join(', ')}`);
  const isMissing = code === 'commander.missingArgument';
  return hinted(message, isMissing ? `write ${fullName(command)} ${command.usage()}` : null);
}
