import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import { collect } from '../options.ts';
import { type SelftestFlags, selftestCommand } from './run.ts';
import { expectations, scenarioNames } from './scenarios.ts';

export function defineSelftest(command: Command, bind: Bind): void {
  command
    .description(
      'Run a pipeline step once for each outcome of its gate, each time against a new mock, and check that the step fails when the gate fails and passes when the gate passes. Exits with 0 if every scenario is as expected, or with 1.',
    )
    .argument(
      '<command...>',
      'the step: a script, or bash -c "…"; it runs for real, including any deployment',
    )
    .usage('[options] -- <command...>')
    .passThroughOptions()
    .optionsGroup('Options:')
    .option(
      '--cancelled <colour>',
      `the expected result for a cancelled run: ${expectations.join(', ')} (default: red for a strict step, otherwise any)`,
    )
    .option('--scenario <name>', `${scenarioNames.join(', ')} (repeatable; default: all)`, collect)
    .option('--time-limit <duration>', 'stop the step after this time in each scenario (default 60s)')
    .option('--parallel <n>', 'the number of scenarios to run at the same time (default 1)');
  examples(command, 'rungate selftest -- ./ci/gate.sh');
  completes(command, '--cancelled', expectations);
  completes(command, '--scenario', scenarioNames);
  bind(command, {
    decides: true,
    run: (context, [words], flags: SelftestFlags) => selftestCommand(context, words as string[], flags),
  });
}
