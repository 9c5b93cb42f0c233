import type { Command, CommanderError } from 'commander';
import { UsageError } from '../errors.ts';
import { echoed, nearest } from '../suggest.ts';
import { nameOf } from './command-name.ts';

const visible = (command: Command) =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name());

/** Whether a word is an option that takes the next word as its value. */
function takesValue(command: Command, word: string): boolean {
  const option = command.options.find((one) => one.short === word || one.long === word);
  if (option !== undefined) return option.required;
  return command.parent !== null && takesValue(command.parent, word);
}

/** The command that the words call, as far as they can be understood. */
export function calledCommand(program: Command, argv: readonly string[]): Command {
  let command = program;
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') break;
    if (word.startsWith('-')) {
      if (takesValue(command, word)) at++;
      continue;
    }
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
  }
  return command;
}

/** What `rungate help …` is asked for and is not there; null where it is, and where it is not help that is asked for. */
export function unknownTopic(program: Command, argv: readonly string[]): string | null {
  const command = calledCommand(program, argv);
  const [help, topic] = argv.slice(argv.indexOf('help'));
  if (help !== 'help' || topic === undefined) return null;
  return command.commands.some((one) => one.name() === topic) ? null : topic;
}

/** Every command below a group, by its own name and by its whole one. */
function below(group: Command): { name: string; whole: string }[] {
  return group.commands.flatMap((one) => [{ name: one.name(), whole: nameOf(one) }, ...below(one)]);
}

/** More than this are no suggestion. */
const mostPlaces = 3;

/** `rungate wait` is meant as `rungate run wait`. */
function elsewhere(program: Command, word: string): string | null {
  const all = program.commands.flatMap(below);
  const near = nearest(
    word,
    all.map(({ name }) => name),
  );
  const places = all.filter(({ name }) => name === near).map(({ whole }) => whole);
  return places.length === 0 || places.length > mostPlaces ? null : `did you mean ${places.join(' or ')}?`;
}

/** What to write in the place of a command that is not there. */
async function commandInstead(
  command: Command,
  word: string,
  everyCommand: () => Promise<Command>,
): Promise<string> {
  const names = visible(command);
  const near = nearest(word, names);
  if (near !== null) return `did you mean ${nameOf(command)} ${near}?`;
  const deeper = command.parent === null ? elsewhere(await everyCommand(), word) : null;
  return deeper ?? `the commands are ${names.join(', ')}`;
}

/** The long names of what a command takes, and of what those above it take. */
function optionsOf(command: Command): string[] {
  const own = command.options.map((option) => option.long ?? '');
  return command.parent === null ? own : [...own, ...optionsOf(command.parent)];
}

function optionInstead(command: Command, word: string): string | null {
  const isOurs = optionsOf(command).includes(word);
  // What is there and is called unknown was given a value that it does not take.
  if (isOurs) return `${word} takes no value: write it alone`;
  const near = nearest(word, [...optionsOf(command), '--help']);
  return near === null ? null : `did you mean ${near}?`;
}

/**
 * What commander has to object to, as an error of ours that names the nearest right word. `everyCommand` gives the
 * program with all groups loaded; it is asked for only where a command is looked for.
 */
export async function explain(
  error: CommanderError,
  program: Command,
  argv: readonly string[],
  everyCommand: () => Promise<Command>,
): Promise<UsageError> {
  const command = calledCommand(program, argv);
  const help = `see ${nameOf(command)} --help`;
  const [message = ''] = error.message.replace(/^error: /, '').split('\n');
  const topic = error.code === 'commander.help' ? unknownTopic(program, argv) : null;
  const wrong = /^unknown (command|option) '([^'=]*)/.exec(
    topic === null ? message : `unknown command '${topic}'`,
  );
  if (error.code === 'commander.help' && wrong === null) {
    return new UsageError(`${nameOf(command)} alone does nothing: a command is missing`, {
      hint: `the commands are ${visible(command).join(', ')} — ${help}`,
    });
  }
  if (wrong === null) {
    const isMissing = error.code === 'commander.missingArgument';
    const write = isMissing ? `write ${nameOf(command)} ${command.usage()} — ` : '';
    return new UsageError(message, { hint: `${write}${help}` });
  }
  const [, kind, word = ''] = wrong;
  const better =
    kind === 'command' ? await commandInstead(command, word, everyCommand) : optionInstead(command, word);
  // The word may be a secret in the wrong place, and so may what comes with an option.
  const shown = echoed(word).replace(/^"|"$/g, "'");
  return new UsageError(`unknown ${kind} ${shown}`, { hint: better === null ? help : `${better} — ${help}` });
}
