import { Argument, Command, type HelpContext, Option, type ParseOptionsResult } from 'commander';
import { UsageError } from '../errors.ts';
import type { OptionId } from '../options/table.ts';
import {
  type BareSpec,
  type CommandSpec,
  detailed,
  type Named,
  type OptionSpec,
  rowOptions,
  type Spec,
  sentenceOf,
} from './spec.ts';

/** Lets commander run the command of a spec. */
export type Act = (command: OwnCommand, spec: CommandSpec | BareSpec) => void;

function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

const once =
  (name: string, hint: string) =>
  (value: string, earlier: string | undefined): string => {
    if (earlier === undefined) return value;
    throw new UsageError(`${name} is given twice`, { hint });
  };

class SpecOption extends Option {
  readonly spec: OptionSpec;

  constructor(flags: string, told: string | OptionSpec) {
    const spec = detailed(told);
    super(flags, spec.help);
    this.spec = spec;
    this.hideHelp(spec.hidden === true).helpGroup(spec.group ?? 'Options:');
    if (spec.repeatable) this.argParser(collect);
    else if (spec.single !== undefined && this.required)
      this.argParser(once(this.long ?? flags, spec.single));
  }
}

class SpecArgument extends Argument {
  readonly spec: OptionSpec;

  constructor(placeholder: string, told: string | OptionSpec) {
    const spec = detailed(told);
    super(placeholder, spec.help);
    this.spec = spec;
  }
}

/** Returns the spec of an option or an argument; undefined for those of commander. */
export const specOf = (part: Option | Argument): OptionSpec | undefined =>
  part instanceof SpecOption || part instanceof SpecArgument ? part.spec : undefined;

/** Returns the full name of a command: `rungate run wait`. */
export function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

/** A command line that commander cannot parse. `code` is commander's, or `missingCommand`. */
export class Misuse extends Error {
  readonly command: Command;
  readonly code: string | undefined;

  constructor(command: Command, message: string, code: string | undefined) {
    super(message);
    this.command = command;
    this.code = code;
  }
}

/** Whether an argument is `--` or an option of the command, including `--name=value` and combined letters (`-qv`). */
function isOption({ options }: Command, argument: string): boolean {
  const names = ['--', '-h', '--help', ...options.flatMap(({ short, long }) => [short, long])];
  if (argument.startsWith('--')) return names.includes(argument.split('=')[0]);
  return (
    /^-[a-z]+$/i.test(argument) && [...argument.slice(1)].every((letter) => names.includes(`-${letter}`))
  );
}

/**
 * Refuses an option in the place of another option's value, which commander would accept as the value. The shell drops an
 * unset variable without quotes, so `--ref $REF --wait` would start a run and not wait for it.
 */
function refuseOptionAsValue(command: Command, args: readonly string[], stopsAtOperand: boolean): void {
  for (let index = 0; index < args.length; index++) {
    const name = args[index] ?? '';
    if (name === '--' || (stopsAtOperand && !name.startsWith('-'))) return;
    const [flag] = name.split('=');
    const option = command.options.find(({ short, long }) => short === flag || long === name);
    if (option?.required !== true) continue;
    const long = option.long ?? name;
    // commander would take `=shop` as the value of `-p=shop`.
    if (flag !== name)
      throw new UsageError(`${flag} takes its value after a space`, {
        hint: `write ${flag} "…" or ${long}="…"`,
      });
    index += 1;
    const value = args[index] ?? '';
    if (!isOption(command, value)) continue;
    const [next] = value.split('=');
    throw new UsageError(`${long} has no value: the option ${next} follows it`, {
      hint: `if the value comes from a variable, that variable is unset: quote it, as in ${long} "$NAME", and check where it is set; write a value that begins with a dash after =, as in ${long}=${next}`,
    });
  }
}

export const isRepeatable = (option: Option): boolean => specOf(option)?.repeatable === true;

export const optionIdsOf = ({ options }: Command): OptionId[] =>
  options.flatMap((option) => specOf(option)?.row?.id ?? []);

/** Throws parse errors instead of printing them, and records the command that they concern. */
export class OwnCommand extends Command {
  spec?: Spec;
  /** Whether everything after the first argument belongs to another program. */
  #isWrapper = false;

  constructor(name?: string) {
    super(name);
    // commander's own `help` accepts only one name of a command; see `helpTopic`.
    this.helpCommand(false);
  }

  /** Adds a command or a group. `act` makes it run; without it, its arguments, options and commands are left out. */
  add(spec: Spec, act?: Act): void {
    const { name, summary, description = sentenceOf(summary), heading = '' } = spec;
    // Only this inherits the settings of the program, such as those of the help.
    const command = this.command(name) as OwnCommand;
    command.summary(summary).description(description).helpGroup(heading).enablePositionalOptions();
    command.spec = spec;
    if (act === undefined) return;
    if ('commands' in spec) for (const one of spec.commands) command.add(one, act);
    else command.#fill(spec, act);
    command.addGlobals();
    const { notes, examples = [] } = spec;
    if (notes !== undefined) command.addHelpText('after', () => `\n${command.notes}`);
    if (examples.length > 0)
      command.addHelpText('after', `\nExamples:\n${examples.join('\n').replace(/^/gm, '  ')}`);
  }

  get notes(): string {
    const { notes = '' } = this.spec ?? {};
    return typeof notes === 'string' ? notes : notes(this.createHelp());
  }

  #fill(spec: CommandSpec | BareSpec, act: Act): void {
    const { args = {}, options = {}, wraps = false } = spec;
    for (const [placeholder, told] of Object.entries(args))
      this.addArgument(new SpecArgument(placeholder, told));
    this.addOptions(options).passThroughOptions(wraps);
    this.#isWrapper = wraps;
    const { usage = wraps ? '[options] -- <command...>' : undefined } = spec;
    if (usage !== undefined) this.usage(usage);
    act(this, spec);
  }

  addOptions(all: Named): this {
    for (const [flags, told] of Object.entries(all)) this.addOption(new SpecOption(flags, told));
    return this;
  }

  /** Adds the options that every command accepts, before and after its name. */
  addGlobals(): this {
    return this.addOptions(rowOptions('every'))
      .optionsGroup('Global options:')
      .helpOption('-h, --help', 'show this help; with --all, show every option');
  }

  override parseOptions(argv: string[]): ParseOptionsResult {
    refuseOptionAsValue(this, argv, this.#isWrapper || this.commands.length > 0);
    return super.parseOptions(argv);
  }

  override createCommand(name?: string): OwnCommand {
    return new OwnCommand(name);
  }

  override error(message: string, { code }: { code?: string } = {}): never {
    throw new Misuse(this, message.replace(/^error: /, ''), code);
  }

  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context !== 'object' || context.error !== true) return super.help();
    throw new Misuse(this, `no command given after ${fullName(this)}`, 'missingCommand');
  }
}
