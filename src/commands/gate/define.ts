import type { Command } from 'commander';
import { UsageError } from '../../errors.ts';
import { type Flags, flagName, rows } from '../../options/table.ts';
import { type Bind, examples } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import { addOptions } from '../options.ts';
import { dryRunOption } from '../run/dry-run.ts';
import { checkReportFlags, type GateFlags } from '../run/wait-flags.ts';
import { gateCommand, gateDefaults } from './gate.ts';

/** @throws UsageError for options that have no effect or contradict each other */
export function checkSliceFlags(flags: Flags): void {
  const { slice, resume, new: fresh } = flags;
  if (fresh === true && slice === undefined)
    throw new UsageError('--new has no effect without --slice', {
      hint: 'leave it out: without --slice, each command starts a new run',
    });
  if (fresh === true && resume !== undefined)
    throw new UsageError('--new and --resume cannot be combined', { hint: 'leave one of them out' });
  if (slice === undefined) return;
  const pages = {
    deployedUrl: 'deployed.url',
    baseUrl: 'preview.baseUrl',
    readyUrl: 'preview.readyUrl',
  } as const;
  for (const [name, id] of Object.entries(pages))
    if (flags[name as keyof typeof pages]?.includes('?'))
      throw new UsageError(
        `--slice would repeat the query of ${flagName(rows[id])}, which may have a secret`,
        {
          hint: `write it as ${id} into .rungate.json${id === 'deployed.url' ? ', or give a header with --deployed-header-file' : ''}`,
        },
      );
}

export function defineGate(gate: Command, bind: Bind): void {
  gate
    .description(
      'Start a test run, wait for it and exit with its verdict: 0 only if the gate passes. Without --process or --tag, run the gates of .rungate.json, if it has any.',
    )
    .argument('[name...]', 'gates of .rungate.json to run, with those that they need (default: all)');
  addOptions(gate, 'gate').optionsGroup('Behaviour:').addOption(dryRunOption());
  completes(gate, 'name', 'gates');
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
