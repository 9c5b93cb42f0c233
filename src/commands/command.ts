import { Command, type HelpContext, type ParseOptionsResult } from 'commander';
import { UsageError } from '../errors.ts';

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

/** Throws parse errors instead of printing them, and records the command that they concern. */
export class OwnCommand extends Command {
  /** Whether everything after the first argument belongs to another program. */
  #isWrapper = false;

  constructor(name?: string) {
    super(name);
    // commander's own `help` accepts only one name of a command; see `helpTopic`.
    this.helpCommand(false);
  }

  override passThroughOptions(passThrough = true): this {
    this.#isWrapper = passThrough;
    return super.passThroughOptions(passThrough);
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
