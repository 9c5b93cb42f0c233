import { UsageError } from '../../errors.ts';
import type { Flags } from '../../options/table.ts';
import { dryRun } from '../run/dry-run.ts';
import { checkReportFlags } from '../run/reports.ts';
import { command, rowOptions } from '../spec.ts';
import { gateCommand, gateDefaults } from './gate.ts';

/** @throws UsageError for options that have no effect */
function checkSliceFlags({ slice, new: fresh }: Flags): void {
  if (fresh === true && slice === undefined)
    throw new UsageError('--new has no effect without --slice', {
      hint: 'leave it out: without --slice, each command starts a new run',
    });
}

export const gate = command({
  name: 'gate',
  summary: 'start a test run, wait for it and exit with its verdict',
  heading: 'Gate:',
  description:
    'Start a test run, wait for it and exit with its verdict: 0 only if the gate passes. Without --process or --tag, run the gates of .rungate.json, if it has any.',
  args: {
    '[name...]': {
      help: 'gates of .rungate.json to run, with those that they need (default: all)',
      completes: 'gates',
    },
  },
  options: { ...rowOptions('gate'), ...dryRun },
  examples: [
    'rungate gate --project shop --process checkout',
    'rungate gate --project shop --tag smoke --timeout 30m --junit rungate.xml',
    'rungate gate web --fail-fast',
    'rungate gate --dry-run',
  ],
  decides: true,
  defaults: gateDefaults,
  check(flags) {
    checkReportFlags(flags);
    if (flags.resume === undefined) checkSliceFlags(flags);
  },
  async continues(io, flags) {
    return flags.resume === undefined ? null : (await import('./resume.ts')).storedOptions(io, flags);
  },
  run: (context, { name }, flags) => gateCommand(context, name, flags),
});
