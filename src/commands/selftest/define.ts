import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import { collect } from '../run/wait-flags.ts';
import type { SelftestFlags } from './run.ts';
import { expectations, scenarioNames } from './scenarios.ts';

/** `rungate selftest -- <command…>` */
export function defineSelftest(command: Command, bind: Bind): void {
  command
    .description(
      'Run a pipeline step once for each way its gate can end, each time against a mock of its own, and check that red turns it red and green turns it green. Exits 0 when all is right, 1 when not.',
    )
    .argument('<command...>', 'the step: a script, or bash -c "…"; it really runs, deployment and all')
    .usage('[options] -- <command...>')
    .passThroughOptions()
    .optionsGroup('Options:')
    .option(
      '--cancelled <colour>',
      `what a cancelled run should do: ${expectations.join(', ')} (default: red where the step is strict, else any)`,
    )
    .option('--scenario <name>', `${scenarioNames.join(', ')} (repeatable; default: all)`, collect)
    .option('--time-limit <duration>', 'stop the step after this long, for each scenario (default 60s)')
    .option('--parallel <n>', 'scenarios at a time (default 1)');
  examples(command, 'rungate selftest -- ./ci/gate.sh');
  completes(command, '--cancelled', expectations);
  completes(command, '--scenario', scenarioNames);
  bind(command, {
    run: async (context, [words], flags: SelftestFlags) =>
      (await import('./run.ts')).selftestCommand(context, words as string[], flags),
  });
}
