import type { Argument, Command, Option } from 'commander';
import { version } from '../version.ts';
import { isRepeatable, type OwnCommand, specOf } from './command.ts';
import type { SuggestionSource } from './completion/completes.ts';

/** An option, with the placeholder of its value, and the environment variable that has the same effect. */
export type HelpOption = ReturnType<typeof describeOption>;

/** A command, or a group with the whole names of its commands. */
export interface HelpCommand {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly usage: string;
  readonly group: string;
  readonly arguments: readonly ReturnType<typeof describeArgument>[];
  readonly options: readonly HelpOption[];
  readonly notes: string;
  readonly examples: readonly string[];
  readonly commands: readonly string[];
}

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

/** Describes a command, and after it those of its group. @param above the whole name of its group */
function describe(command: Command, above = ''): HelpCommand[] {
  const help = command.createHelp();
  const name = `${above} ${command.name()}`.trimStart();
  const { notes, spec } = command as OwnCommand;
  const below = help.visibleCommands(command).map((one) => describe(one, name));
  const whole: HelpCommand = {
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
    commands: below.flatMap(([first]) => (first === undefined ? [] : [first.name])),
  };
  return [whole, ...below.flat()];
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
