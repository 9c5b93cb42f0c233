import { type Command, Option } from 'commander';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { echoed } from '../../suggest.ts';
import type { Bind } from '../binding.ts';
import { completeCommand, type ProgramFor } from './complete.ts';
import { completes, type Shell, shells } from './completes.ts';
import { scripts } from './scripts.ts';

const install = `
To enable it in every new shell, add the line to the file:
  bash  ~/.bashrc  eval "$(rungate completion bash)"
  zsh   ~/.zshrc   eval "$(rungate completion zsh)"
  fish  ~/.config/fish/config.fish  rungate completion fish | source
`;

function shellOf(name: unknown): Shell {
  const shell = shells.find((known) => known === name);
  if (shell !== undefined) return shell;
  const problem = name === undefined ? 'no shell given' : `unsupported shell ${echoed(String(name))}`;
  throw new UsageError(problem, { hint: 'write rungate completion bash, zsh or fish' });
}

export function defineCompletion(command: Command, bind: Bind, programFor: ProgramFor): void {
  command
    .description('Print a script that makes TAB complete commands, options and their values.')
    .usage(shells.join('|'))
    .argument('[shell]')
    // For the scripts only: they call the program, so that an upgrade does not change them.
    .addOption(new Option('--complete').hideHelp())
    .argument('[words...]')
    .addHelpText('after', install);
  completes(command, 'shell', shells);
  bind(command, {
    async runBare(io, [name, rest], { complete }: { complete?: boolean }) {
      const shell = shellOf(name);
      const words = rest as readonly string[];
      if (complete === true) {
        await completeCommand(io, shell, words, programFor);
        return exitCodes.ok;
      }
      if (words.length > 0) throw new UsageError(`too many arguments: ${echoed(words.join(' '))}`);
      await io.out.write(scripts[shell]);
      return exitCodes.ok;
    },
  });
}
