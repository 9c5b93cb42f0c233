import { type Command, Option } from 'commander';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { echoed } from '../../suggest.ts';
import type { Bind } from '../binding.ts';
import { completeCommand, type ProgramFor } from './complete.ts';
import { completes, type Shell, shells } from './completes.ts';
import { bashScript, fishScript, zshScript } from './scripts.ts';

const install = `
To enable it in every new shell, add the line to the file:
  bash  ~/.bashrc  eval "$(rungate completion bash)"
  zsh   ~/.zshrc   eval "$(rungate completion zsh)"
  fish  ~/.config/fish/config.fish  rungate completion fish | source
`;

const scripts: Readonly<Record<Shell, () => Promise<string>>> = {
  bash: async () => bashScript,
  zsh: async () => zshScript,
  fish: async () => fishScript,
};

function shellOf(given: unknown): Shell {
  const hint = `write rungate completion ${shells.join(', ')}`.replace(/, (\w+)$/, ' or $1');
  if (given === undefined) throw new UsageError('no shell given', { hint });
  const shell = shells.find((one) => one === given);
  if (shell !== undefined) return shell;
  throw new UsageError(`unsupported shell ${echoed(String(given))}`, { hint });
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
    async runBare(io, [given, words], { complete }: { complete?: boolean }) {
      const shell = shellOf(given);
      const rest = words as readonly string[];
      if (complete === true) {
        await completeCommand(io, shell, rest, programFor);
        return exitCodes.ok;
      }
      if (rest.length > 0) {
        throw new UsageError(`too many arguments: ${echoed(rest.join(' '))}`);
      }
      await io.out.write(await scripts[shell]());
      return exitCodes.ok;
    },
  });
}
