import type { Command } from 'commander';
import { providers } from '../../ci/context.ts';
import { type Bind, examples } from '../binding.ts';
import { collect } from '../run/wait-flags.ts';
import type { InitFlags } from './init.ts';

/** `rungate init` */
export function defineInit(command: Command, bind: Bind): void {
  command
    .description(
      'Write .rungate.json (or the file that --config names) and a pipeline for the CI that this repository uses; in a package of a monorepo, for that package. Asks for what no flag says. Nothing is sent, no secret is written, and no file is changed without --force.',
    )
    .usage('[options]')
    .optionsGroup('What the gate runs:')
    .option('--project <slug>', 'the project')
    .option('--process <slug>', 'the process to run; or else --tag')
    .option(
      '--tag <tag>',
      'run the processes with this tag (repeatable, or separated by commas); the contract does not say whether one or all must match',
      collect,
    )
    .option('--environment <key>', "the environment (default: the project's own)")
    .option('--strict', 'be strict on every machine; pipelines always are')
    .optionsGroup('What is written:')
    .option('--ci <name>', `${providers.join(', ')} or none (default: what the repository uses)`)
    .option('--dry-run', 'show what would be written, and write nothing')
    .option(
      '--force',
      'change .rungate.json, keeping its other settings, and replace a workflow that runs rungate or a pipeline that init wrote',
    )
    .option('--pipeline-only', 'leave .rungate.json alone; settings that are given go into the pipeline')
    .option('-y, --yes', 'do not ask: take the defaults');
  examples(
    command,
    'rungate init --project shop --process checkout --ci github',
    'rungate init --project shop --process checkout --ci gitlab --pipeline-only',
  );
  bind(command, {
    newProjectFile: ({ pipelineOnly }: InitFlags) => pipelineOnly !== true,
    settings: async (flags: InitFlags) => (await import('../run/trigger.ts')).triggerSettings(flags),
    run: async (context, _args, flags: InitFlags) => (await import('./init.ts')).initCommand(context, flags),
  });
}
