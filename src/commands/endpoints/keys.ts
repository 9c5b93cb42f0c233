import type { Command } from 'commander';
import { keys, knownScopes } from '../../contract/keys.ts';
import type { Bind } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import { examples } from '../examples.ts';
import { collect } from '../run/wait-flags.ts';
import { deriveCommands } from './derive.ts';

interface CreateFlags {
  name?: string;
  scope?: string[];
  outputFile?: string;
}

/** The known scopes, those of one area in a line. */
function scopeLines(): string[] {
  const areas = new Map<string, string[]>();
  for (const scope of knownScopes) {
    const [area = ''] = scope.split(':');
    areas.set(area, [...(areas.get(area) ?? []), scope]);
  }
  return [...areas.values()].map((scopes) => `  ${scopes.join('  ')}`);
}

/** `rungate keys …` */
export function defineKeys(group: Command, bind: Bind): void {
  deriveCommands(group, bind, keys, {
    'keys.create': (command, tie) => {
      command
        .option('--name <name>', 'what the key is for')
        .option('--scope <scope>', 'what it may do (repeatable; default: what automation needs)', collect)
        .option('--output-file <file>', 'write the token to a new file that only you can read')
        .addHelpText('after', `\nKnown scopes, others go through:\n${scopeLines().join('\n')}`);
      completes(command, '--scope', knownScopes);
      examples(command, 'rungate keys create --name ci --scope ci:trigger --scope ci:status');
      tie(command, {
        run: async (context, _args, flags: CreateFlags) =>
          (await import('./keys-create.ts')).createKeyCommand(context, flags),
      });
    },
  });
}
