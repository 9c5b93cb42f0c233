import { UsageError } from '../../errors.ts';
import { noList } from '../no-list.ts';
import { command, type GroupSpec, noteOf, rowOptions, under } from '../spec.ts';
import { dryRun } from './dry-run.ts';
import { runCancel, runOpen, runStatus } from './one-run.ts';
import { checkReportFlags } from './reports.ts';
import { triggerCommand } from './trigger.ts';
import { waitCommand } from './wait.ts';

const runTrigger = command({
  name: 'trigger',
  summary: 'start a test run, and with --wait gate on it',
  description:
    'Start a test run and print its id. With --wait, wait until it ends and exit with its verdict; in a pipeline, use rungate gate, which is strict and waits until its timeout.',
  options: {
    ...rowOptions('trigger'),
    ...under('Behaviour:', {
      '--wait': 'wait for the run and exit with its verdict',
      '--no-wait': 'exit after starting the run (default), without the warning about a missing gate',
    }),
    ...dryRun,
  },
  examples: [
    'rungate run trigger --project shop --process e2e --wait --strict --timeout 30m',
    'rungate run trigger --project shop --tag smoke --wait --timeout 30m',
    'run=$(rungate run trigger --project shop --process checkout)',
  ],
  decides: true,
  check(flags, argv) {
    // In commander the last one wins, so an argument at the end of a line could remove the gate.
    if (argv.includes('--wait') && argv.includes('--no-wait'))
      throw new UsageError('--wait and --no-wait cannot be combined', { hint: 'leave one of them out' });
    checkReportFlags(flags);
  },
  run: (context, _args, flags) => triggerCommand(context, flags),
});

const runWait = command({
  name: 'wait',
  summary: 'wait for runs and gate on them',
  description: 'Wait until the runs have ended and exit with their verdicts: 0 only if the gate passes.',
  args: { '<runId...>': 'ids of one or more runs' },
  options: {
    '--name <text>': {
      help: 'name of the run in reports (default: its id); give it once per run',
      repeatable: true,
    },
    ...rowOptions('wait'),
  },
  examples: [
    'run=$(rungate run trigger --project shop --process checkout --no-wait)',
    'rungate run wait "$run" --strict --timeout 30m --junit rungate.xml',
    'rungate run wait "$run" --strict --timeout 30m --name "shop / checkout"',
  ],
  decides: true,
  check: checkReportFlags,
  run: (context, { runId }, flags) => waitCommand(context, runId, flags),
});

export const run: GroupSpec = {
  name: 'run',
  summary: 'trigger, wait for, show and cancel test runs',
  heading: 'Gate:',
  notes: noteOf(noList.run),
  commands: [runTrigger, runWait, runStatus, runOpen, runCancel],
};
