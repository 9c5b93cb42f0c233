import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { echoed, nearest } from '../suggest.ts';
import { type Misuse, nameOf } from './command.ts';
import { extraArgumentHint } from './extra-argument.ts';
import { lineInstead, optionLeftOut, optionOfOthers, synonyms } from './other-tools.ts';

const subcommands = (command: Command) => command.commands.map((one) => one.name());

/** Returns all commands below a group, with their short and full names. */
function below(group: Command): { name: string; whole: string }[] {
  return group.commands.flatMap((one) => [{ name: one.name(), whole: nameOf(one) }, ...below(one)]);
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
  const own = Object.hasOwn(synonyms, word)
    ? synonyms[word]?.find((name) => names.includes(name))
    : undefined;
  if (own === undefined) return null;
  const group = command.parent === null ? (await everyCommand()).commands : command.commands;
  const next = command.args[1] ?? '';
  const deeper = group.find((one) => one.name() === own && subcommands(one).includes(next));
  return `did you mean ${nameOf(command)} ${own}${deeper === undefined ? '' : ` ${next}`}?`;
}

/** Returns a hint for an unknown command, or null. */
async function commandInstead(
  command: Command,
  word: string,
  everyCommand: () => Promise<Command>,
): Promise<string | null> {
  const foreign =
    lineInstead([nameOf(command), ...command.args].join(' ')) ??
    (await synonymOf(command, word, everyCommand));
  if (foreign !== null) return foreign;
  const names = subcommands(command);
  const near = nearest(word, names);
  if (near !== null) return `did you mean ${nameOf(command)} ${near}?`;
  const deeper = command.parent === null ? elsewhere(await everyCommand(), word) : null;
  if (names.length === 0) return null;
  return deeper ?? `the commands are ${names.join(', ')}`;
}

function optionInstead(command: Command, word: string): string | null {
  const names = command.options.map((option) => option.long ?? '');
  // commander also reports an option as unknown if it has a value that it does not take.
  if (names.includes(word)) return `${word} takes no value: write it alone`;
  const absent = optionLeftOut(nameOf(command), word);
  if (absent !== null) return absent;
  const near = nearest(word, [...names, '--help']);
  if (near !== null) return `did you mean ${near}?`;
  const foreign = optionOfOthers(nameOf(command), word);
  if (foreign !== null) return foreign;
  // Some requests may have fields that are not in the contract, so any name could be one.
  if (!names.includes('--field') || !/^--[a-z-]{1,30}$/.test(word)) return null;
  return `if the service has such a field, write --field ${word.slice(2)}=<value>`;
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
  const help = `see ${nameOf(command)} --help`;
  const hinted = (text: string, hint: string | null) =>
    new UsageError(text, { hint: hint === null ? help : `${hint} — ${help}` });
  const [, kind, word = ''] = /^unknown (command|option) '([^'=]*)/.exec(message) ?? [];
  if (kind !== undefined) {
    // The name may be a misplaced secret, and so may the value of an option.
    const shown = echoed(word).replace(/^"|"$/g, "'");
    const isCommand = kind === 'command';
    const better = isCommand
      ? await commandInstead(command, word, everyCommand)
      : optionInstead(command, word);
    return hinted(`unknown ${kind} ${shown}`, better);
  }
  if (code === 'commander.excessArguments') {
    const most = command.registeredArguments.length;
    const extra = command.args[most] ?? '';
    // Any other argument may be a secret.
    const isShown = /^[–—−]|^.{0,2}$/.test(extra);
    const count = most === 0 ? 'no arguments' : most === 1 ? '1 argument' : `${most} arguments`;
    const what = isShown ? echoed(extra.split('=')[0] ?? '') : `${nameOf(command)} takes ${count}`;
    return hinted(`unexpected argument: ${what}`, extraArgumentHint(command, extra, argv));
  }
  if (code === 'missingCommand')
    return hinted(message, `the commands are ${subcommands(command).join(', ')}`);
  const isMissing = code === 'commander.missingArgument';
  return hinted(message, isMissing ? `write ${nameOf(command)} ${command.usage()}` : null);
}
