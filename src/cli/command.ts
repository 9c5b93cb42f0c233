import { Command, type HelpContext, type ParseOptionsResult } from 'commander';
import { UsageError } from '../errors.ts';

/** `rungate run wait` */
export function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

/** A command line that cannot be understood. `code` is commander's, or `missingCommand`. */
export class Misuse extends Error {
  readonly command: Command;
  readonly code: string | undefined;

  constructor(command: Command, message: string, code: string | undefined) {
    super(message);
    this.command = command;
    this.code = code;
  }
}

/** Whether a word is `--` or an option of the command, alone, with its value behind `=`, or several letters (`-qv`). */
function isOption({ options }: Command, word: string): boolean {
  const names = ['--', '-h', '--help', ...options.flatMap(({ short, long }) => [short, long])];
  if (word.startsWith('--')) return names.includes(word.split('=')[0]);
  return /^-[a-z]+$/i.test(word) && [...word.slice(1)].every((letter) => names.includes(`-${letter}`));
}

/**
 * Refuses an option that stands where the value of another one belongs. commander takes it as the value, and an unset
 * variable without quotes is no word at all: `--ref $REF --wait` would start a run and not wait for it.
 */
function refuseOptionAsValue(command: Command, words: readonly string[], stopsAtOperand: boolean): void {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--' || (stopsAtOperand && !word.startsWith('-'))) return;
    const option = command.options.find(({ short, long }) => short === word || long === word);
    if (option?.required !== true) continue;
    at += 1;
    const value = words[at] ?? '';
    if (!isOption(command, value)) continue;
    const [next] = value.split('=');
    throw new UsageError(`${word} has no value: the option ${next} follows it`, {
      hint: `if the value comes from a variable, the variable is unset: put it in quotes, as in ${word} "$NAME", and check where it is set; a value that begins with a dash goes behind =, as in ${word}=${next}`,
    });
  }
}

/** Throws its mistakes instead of printing them, and says which command they are about. */
export class OwnCommand extends Command {
  /** What follows its first argument belongs to another program. */
  #isWrapper = false;

  constructor(name?: string) {
    super(name);
    // commander's own `help` knows one word of a command: see `helpTopic`.
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
    throw new Misuse(this, `no command given after ${nameOf(this)}`, 'missingCommand');
  }
}
