import type { Argument, Command, Option } from 'commander';
import { version } from '../version.ts';
import { fullName, isRepeatable, type OwnCommand, specOf } from './command.ts';
import type { SuggestionSource } from './completion/completes.ts';

/** An option, with the placeholder of its value, and the environment variable that has the same effect. */
export type HelpOption = ReturnType<typeof describeOption>;

/** A command, or a group with the whole names of its commands. */
export type HelpCommand = ReturnType<typeof describeCommand>;

/** The options under this heading are listed once, not for every command. */
const globalHeading = 'Global options';

const headingOf = (text: string | undefined) => (text ?? 'Options:').replace(/:$/, '');

/** Returns the values to choose from; none if they are looked up. */
function choicesOf(source: SuggestionSource | undefined): { choices?: readonly string[] } {
  if (typeof source !== 'object') return {};
  return { choices: source.map((one) => (typeof one === 'string' ? one : one.value)) };
}

function describeOption(option: Option) {
  const { long, short, flags, description, helpGroupHeading } = option;
  const { row, completes } = specOf(option) ?? {};
  const begin = flags.search(/[<[]/);
  const placeholder = begin === -1 ? undefined : flags.slice(begin + 1, -1).replace(/\.{3}$/, '');
  return {
    flag: long ?? flags,
    ...(short && { short }),
    ...(placeholder && { placeholder }),
    description,
    ...(row?.default && { default: row.default }),
    ...(row?.env && { environment: row.env }),
    repeatable: isRepeatable(option),
    ...choicesOf(completes),
    group: headingOf(helpGroupHeading),
  };
}

function describeArgument(argument: Argument) {
  const { description, required, variadic } = argument;
  const choices = choicesOf(specOf(argument)?.completes);
  return { name: argument.name(), description, required, repeatable: variadic, ...choices };
}

function describeCommand(command: Command) {
  const help = command.createHelp();
  const name = fullName(command);
  const { notes, spec } = command as OwnCommand;
  return {
    name,
    summary: command.summary(),
    description: command.description(),
    usage: `${name} ${command.usage()}`,
    group: headingOf(command.helpGroup() || ''),
    arguments: command.registeredArguments.map(describeArgument),
    options: help
      .visibleOptions(command)
      .map(describeOption)
      .filter(({ group }) => group !== globalHeading),
    notes: notes.trimEnd(),
    examples: (spec?.examples ?? []).flatMap((lines) => lines.split('\n')),
    commands: help.visibleCommands(command).map(fullName),
  };
}

/** Describes a command, and after it those of its group. */
function describe(command: Command): HelpCommand[] {
  const below = command.createHelp().visibleCommands(command);
  return [describeCommand(command), ...below.flatMap(describe)];
}

/**
 * Describes a program with all of its commands.
 * @param names the name of a command, without that of the program, to describe only that command and those of its group
 */
export function describeHelp(program: Command, names: readonly string[] = []) {
  const name = [program.name(), ...names].join(' ');
  const commands = describe(program).filter((one) => one.name === name || one.name.startsWith(`${name} `));
  const options = program.createHelp().visibleOptions(program).map(describeOption);
  const globalOptions = options.filter(({ group, flag }) => group === globalHeading && flag !== '--version');
  return { schemaVersion: 1, version, globalOptions, commands };
}
