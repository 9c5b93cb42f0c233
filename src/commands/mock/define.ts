import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { execCommand } from './exec.ts';
import { addMockFlags, type MockFlags } from './flags.ts';
import { serveCommand } from './serve.ts';

export function defineMock(group: Command, bind: Bind): void {
  const serve = addMockFlags(group.command('serve'))
    .summary('serve the mock until it is stopped')
    .description(
      'Serve a mock of the service on this machine (by default on port 4010), and print the settings to export.',
    );
  examples(serve, 'rungate mock serve --outcome failed  # until Ctrl-C');
  bind(serve, {
    run: (context, _args, flags: MockFlags) => serveCommand(context, flags),
  });

  const exec = addMockFlags(group.command('exec'))
    .summary('run a command against a new mock')
    .description(
      'Run a command against a new mock, with the settings of the mock in its environment, and exit with the exit code of the command.',
    )
    .argument('<command...>')
    .usage('[options] -- <command...>')
    .passThroughOptions();
  examples(
    exec,
    'rungate mock exec -- \\\n    rungate run trigger --project shop --tag e2e --wait --timeout 30m',
    'rungate mock exec --outcome failed -- ./ci/gate.sh  # exits 1',
  );
  bind(exec, {
    run: (context, [command], flags: MockFlags) => execCommand(context, command as string[], flags),
  });
}
