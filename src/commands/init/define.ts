import type { Command } from 'commander';
import { providers } from '../../ci/context.ts';
import { type Bind, examples } from '../binding.ts';
import { collect } from '../run/wait-flags.ts';
import type { InitFlags } from './init.ts';

/** `rungate init` */
export function defineInit(command: Command, bind: Bind): void {
  command
    .description(
      'Write .rungate.json (or the file that --config names) and a pipeline for the CI of this repository; in a package of a monorepo, for that package. rungate prompts for missing settings. It sends nothing, writes no secret, and changes no existing file without --force.',
    )
    .usage('[options]')
    .optionsGroup('The run:')
    .option('--project <slug>', 'the project')
    .option('--process <slug>', 'the process to run, unless --tag is given')
    .option(
      '--tag <tag>',
      'run the processes with this tag (repeatable, or separated by commas); the contract does not say whether one or all must match',
      collect,
    )
    .option(
      '--gates <slugs>',
      'write a gate for each of these processes (repeatable, or separated by commas), instead of --process or --tag',
      collect,
    )
    .option('--environment <key>', "the environment (default: the project's default)")
    .option('--strict', 'write "strict": true into the file; the pipeline always uses --strict')
    .optionsGroup('The files:')
    .option('--ci <name>', `${providers.join(', ')} or none (default: the CI that the repository uses)`)
    .option('--dry-run', 'show the files without writing them')
    .option(
      '--force',
      'change .rungate.json, keeping its other settings, and replace a workflow that runs rungate or a pipeline that init wrote',
    )
    .option('--pipeline-only', 'leave .rungate.json unchanged, and put the given settings into the pipeline')
    .option('-y, --yes', 'use the defaults instead of prompting');
  examples(
    command,
    'rungate init --project shop --process checkout --ci github',
    'rungate init --project shop --process checkout --ci gitlab --pipeline-only',
    'rungate init --gates api,web,mobile --ci github --force',
  );
  bind(command, {
    newProjectFile: ({ pipelineOnly }: InitFlags) => pipelineOnly !== true,
    settings: async (flags: InitFlags) => (await import('../run/trigger.ts')).triggerSettings(flags),
    run: async (context, _args, flags: InitFlags) => (await import('./init.ts')).initCommand(context, flags),
  });
}
