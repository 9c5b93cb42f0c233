import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import { addOptions } from '../options.ts';
import type { GateFlags } from '../run/command-gate.ts';
import { dryRunOption } from '../run/dry-run.ts';
import { checkReportFlags } from '../run/wait-flags.ts';
import { gateCommand, gateDefaults } from './gate.ts';
import { checkSliceFlags } from './slice.ts';

export function defineGate(gate: Command, bind: Bind): void {
  gate
    .description(
      'Start a test run, wait for it and exit with its verdict: 0 only if the gate passes. Without --process or --tag, run the gates of .rungate.json, if it has any.',
    )
    .argument('[name...]', 'gates of .rungate.json to run, with those that they need (default: all)');
  addOptions(gate, 'gate').optionsGroup('Behaviour:').addOption(dryRunOption());
  completes(gate, 'name', { from: 'gates' });
  examples(
    gate,
    'rungate gate --project shop --process checkout',
    'rungate gate --project shop --tag smoke --timeout 30m --junit rungate.xml',
    'rungate gate web --fail-fast',
    'rungate gate --dry-run',
  );
  bind(gate, {
    decides: true,
    defaults: gateDefaults,
    check(flags) {
      checkReportFlags(flags);
      checkSliceFlags(flags);
    },
    run: (context, [names], flags: GateFlags) => gateCommand(context, names as string[], flags),
  });
}
