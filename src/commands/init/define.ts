import type { Command } from 'commander';
import { providers } from '../../ci/context.ts';
import { type Bind, examples } from '../binding.ts';
import { addOptions, collect } from '../options.ts';
import { type InitFlags, initCommand } from './init.ts';
import { skillFolders } from './skill.ts';

export function defineInit(command: Command, bind: Bind): void {
  command
    .description(
      'Write .rungate.json (or the file that --config names) and a pipeline for the CI of this repository; in a package of a monorepo, for that package. rungate prompts for missing settings. It sends nothing, writes no secret, and changes no existing file without --force.',
    )
    .usage('[options]');
  addOptions(command, 'init', 'The run:')
    .optionsGroup('The run:')
    .option(
      '--gates <slugs>',
      'write a gate for each of these processes (repeatable, or separated by commas), instead of --process or --tag',
      collect,
    )
    .optionsGroup('The files:')
    .option('--ci <name>', `${providers.join(', ')} or none (default: the CI that the repository uses)`)
    .option(
      '--merge-queue',
      'for GitHub: leave pull requests from forks, which have no secrets, to your merge queue (default: their gate fails)',
    )
    .option('--dry-run', 'show the files without writing them')
    .option(
      '--force',
      'change .rungate.json, keeping its other settings, and replace a workflow that runs rungate or a pipeline that init wrote',
    )
    .option('--pipeline-only', 'leave .rungate.json unchanged, and put the given settings into the pipeline')
    .option(
      '--skill',
      `write only rungate/SKILL.md, for coding agents, into the first of ${skillFolders.join(', ')} that exists (default: ${skillFolders[0]})`,
    )
    .option('-y, --yes', 'use the defaults instead of prompting');
  examples(
    command,
    'rungate init --project shop --process checkout --ci github',
    'rungate init --project shop --process checkout --ci gitlab --pipeline-only',
    'rungate init --gates api,web,mobile --ci github --force',
    'rungate init --skill',
  );
  bind(command, {
    newProjectFile: ({ pipelineOnly, skill }: InitFlags) => pipelineOnly !== true && skill !== true,
    run: (context, _args, flags: InitFlags) => initCommand(context, flags),
  });
}
