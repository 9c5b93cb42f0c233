import type { Command } from 'commander';
import { keys, knownScopes } from '../contract/keys.ts';
import type { Bind } from './bind.ts';
import { deriveCommands } from './derive.ts';
import { collect } from './run-flags.ts';

interface CreateFlags {
  name?: string;
  scope?: string[];
  outputFile?: string;
}

/** `rungate keys …` */
export function defineKeys(group: Command, bind: Bind): void {
  deriveCommands(group, bind, keys, {
    'keys.create': (command, tie) => {
      command
        .option('--name <name>', 'what the key is for')
        .option('--scope <scope>', 'what it may do (repeatable; default: what automation needs)', collect)
        .option('--output-file <file>', 'write the token to a new file that only you can read')
        .addHelpText('after', `\nKnown scopes, others go through: ${knownScopes.join(', ')}`);
      tie(command, {
        run: async (context, _args, flags: CreateFlags) =>
          (await import('./keys-create.ts')).createKeyCommand(context, flags),
      });
    },
  });
}
