import type { Command } from 'commander';
import { UsageError } from '../../errors.ts';
import { type Bind, examples, note } from '../binding.ts';
import { noList } from '../no-list.ts';
import { addOptions, collect } from '../options.ts';
import { dryRunOption } from './dry-run.ts';
import { cancelCommand, openCommand, statusCommand } from './one-run.ts';
import { type TriggerFlags, triggerCommand } from './trigger.ts';
import { type NamedWaitFlags, waitCommand } from './wait.ts';
import { checkReportFlags } from './wait-flags.ts';

export function defineRun(group: Command, bind: Bind): void {
  note(group, noList.run);
  const trigger = group
    .command('trigger')
    .summary('start a test run, and with --wait gate on it')
    .description(
      'Start a test run and print its id. With --wait, wait until it ends and exit with its verdict; in a pipeline, use rungate gate, which is strict and waits until its timeout.',
    );
  addOptions(trigger, 'trigger')
    .optionsGroup('Behaviour:')
    .option('--wait', 'wait for the run and exit with its verdict')
    .option('--no-wait', 'exit after starting the run (default), without the warning about a missing gate')
    .addOption(dryRunOption());
  // In commander the last one wins, so an argument at the end of a line could remove the gate.
  const waits = new Set<string>();
  for (const name of ['wait', 'no-wait']) {
    trigger.on(`option:${name}`, () => {
      if (waits.add(name).size === 2)
        throw new UsageError('--wait and --no-wait cannot be combined', { hint: 'leave one of them out' });
    });
  }
  examples(
    trigger,
    'rungate run trigger --project shop --process e2e --wait --strict --timeout 30m',
    'rungate run trigger --project shop --tag smoke --wait --timeout 30m',
    'run=$(rungate run trigger --project shop --process checkout)',
  );
  bind(trigger, {
    decides: true,
    check: checkReportFlags,
    run: (context, _args, flags: TriggerFlags) => triggerCommand(context, flags),
  });

  const wait = group
    .command('wait')
    .summary('wait for runs and gate on them')
    .description('Wait until the runs have ended and exit with their verdicts: 0 only if the gate passes.')
    .argument('<runId...>', 'ids of one or more runs')
    .optionsGroup('Options:')
    .option('--name <text>', 'name of the run in reports (default: its id); give it once per run', collect);
  addOptions(wait, 'wait');
  examples(
    wait,
    'run=$(rungate run trigger --project shop --process checkout --no-wait)',
    'rungate run wait "$run" --strict --timeout 30m --junit rungate.xml',
    'rungate run wait "$run" --strict --timeout 30m --name "shop / checkout"',
  );
  bind(wait, {
    decides: true,
    check: checkReportFlags,
    run: (context, [runIds], flags: NamedWaitFlags) => waitCommand(context, runIds as string[], flags),
  });

  const status = group
    .command('status')
    .summary('show the state and the counts of a run')
    .description('Show the state of a run. The exit code is 0 in any state; use run wait to gate on the run.')
    .argument('<runId>');
  examples(
    status,
    'run=$(rungate run trigger --project shop --process checkout)',
    'rungate run status "$run" --json',
  );
  bind(status, {
    run: (context, [runId]) => statusCommand(context, String(runId)),
  });

  const open = group
    .command('open')
    .summary('open the page of a run in your browser')
    .description(
      'Open the page of a run (its appUrl) in your browser. Without a browser, as in CI or a pipe, print the URL instead. BROWSER overrides the command that opens it.',
    )
    .argument('<runId>');
  examples(open, 'run=$(rungate run trigger --project shop --process checkout)', 'rungate run open "$run"');
  bind(open, {
    run: (context, [runId]) => openCommand(context, String(runId)),
  });

  const cancel = group
    .command('cancel')
    .summary('cancel a run')
    .description('Cancel a run and print the response of the service unchanged.')
    .argument('<runId>')
    .option('--reason <text>', 'reason for the cancellation, sent to the service');
  examples(
    cancel,
    'run=$(rungate run trigger --project shop --process checkout)',
    'rungate run cancel "$run" --reason "started by mistake"',
  );
  bind(cancel, {
    run: (context, [runId], flags: { reason?: string }) => cancelCommand(context, String(runId), flags),
  });
}
