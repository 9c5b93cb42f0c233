import type { Command } from 'commander';

/** Lines that work as they stand, below a command's help. docs/commands.md shows them too, and a test runs them. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}
