import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { echoed, nearest } from '../suggest.ts';
import { fullName, type Misuse } from './command.ts';
import { likelyMistake, type Mistake, synonyms } from './likely-mistakes.ts';

const subcommands = (command: Command) => command.commands.map((child) => child.name());

/** Returns all commands below a group, with their short and full names. */
function below(group: Command): { name: string; whole: string }[] {
  return group.commands.flatMap((command) => [
    { name: command.name(), whole: fullName(command) },
    ...below(command),
  ]);
}

/** More matches than this are not suggested. */
const maxMatches = 3;

/** Suggests a command of another group: `rungate run wait` for `rungate wait`. */
function elsewhere(program: Command, word: string): string | null {
  const all = program.commands.flatMap(below);
  const near = nearest(
    word,
    all.map(({ name }) => name),
  );
  const places = all.filter(({ name }) => name === near).map(({ whole }) => whole);
  return places.length === 0 || places.length > maxMatches ? null : `did you mean ${places.join(' or ')}?`;
}

/** Suggests the command for the name that another tool uses, with its subcommand: `rungate env list`. */
async function synonymOf(
  command: Command,
  word: string,
  everyCommand: () => Promise<Command>,
): Promise<string | null> {
  const names = subcommands(command);
  const equivalent = synonyms.get(word)?.find((name) => names.includes(name));
  if (equivalent === undefined) return null;
  const group = command.parent === null ? (await everyCommand()).commands : command.commands;
  const next = command.args[1] ?? '';
  const deeper = group.find(
    (candidate) => candidate.name() === equivalent && subcommands(candidate).includes(next),
  );
  return `did you mean ${fullName(command)} ${equivalent}${deeper === undefined ? '' : ` ${next}`}?`;
}

/** Returns a hint for an unknown command that is not in the table, or null. */
async function commandInstead(
  command: Command,
  word: string,
  everyCommand: () => Promise<Command>,
): Promise<string | null> {
  const synonym = await synonymOf(command, word, everyCommand);
  if (synonym !== null) return synonym;
  const names = subcommands(command);
  const near = nearest(word, names);
  if (near !== null) return `did you mean ${fullName(command)} ${near}?`;
  if (names.length === 0) return null;
  const deeper = command.parent === null ? elsewhere(await everyCommand(), word) : null;
  return deeper ?? `the commands are ${names.join(', ')}`;
}

/** Returns a hint for an unknown option that is not in the table, or null. */
function optionInstead(command: Command, word: string): string | null {
  const names = command.options.map((option) => option.long ?? '');
  const near = nearest(word, [...names, '--help']);
  if (near !== null) return `did you mean ${near}?`;
  // Some requests may have fields that are not in the API, so any name could be one.
  if (!names.includes('--field') || !/^--[a-z-]{1,30}$/.test(word)) return null;
  return `if the service has such a field, write --field ${word.slice(2)}=<value>`;
}

/** Returns an argument that its command does not take, with the option before it. */
function extraArgument(command: Command, word: string, argv: readonly string[]): Mistake {
  const before = argv.slice(0, argv.lastIndexOf(word));
  const index = before.findLastIndex((argument) => argument.startsWith('-'));
  const [flag] = (before[index] ?? '').split('=');
  const after = command.options.find(({ short, long }) => flag !== '' && (flag === short || flag === long));
  const line = `${fullName(command)} ${word}`;
  return { kind: 'argument', command, line, word, after, isNext: index === before.length - 1 };
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
    const better =
      kind === 'command'
        ? (likelyMistake({ kind, command, word, line: [fullName(command), ...command.args].join(' ') }) ??
          (await commandInstead(command, word, everyCommand)))
        : (likelyMistake({ kind: 'option', command, word, line: `${fullName(command)} ${word}` }) ??
          optionInstead(command, word));
    return hinted(`unknown ${kind} ${shown}`, better);
  }
  if (code === 'commander.excessArguments') {
    const most = command.registeredArguments.length;
    const extra = command.args[most] ?? '';
    // Any other argument may be a secret.
    const isShown = /^[–—−]|^.{0,2}$/.test(extra);
    const count = most === 0 ? 'no arguments' : most === 1 ? '1 argument' : `${most} arguments`;
    const what = isShown ? echoed(extra.split('=')[0] ?? '') : `${fullName(command)} takes ${count}`;
    return hinted(`unexpected argument: ${what}`, likelyMistake(extraArgument(command, extra, argv)));
  }
  if (code === 'missingCommand')
    return hinted(message, `the commands are ${subcommands(command).join(', ')}`);
  const isMissing = code === 'commander.missingArgument';
  return hinted(message, isMissing ? `write ${fullName(command)} ${command.usage()}` : null);
}
