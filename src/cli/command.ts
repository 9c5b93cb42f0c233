import { Command, type HelpContext } from 'commander';

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

/** Throws its mistakes instead of printing them, and says which command they are about. */
export class OwnCommand extends Command {
  constructor(name?: string) {
    super(name);
    // commander's own `help` knows one word of a command: see `helpTopic`.
    this.helpCommand(false);
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
