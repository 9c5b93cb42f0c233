import type { Command } from 'commander';
import { UsageError } from '../../errors.ts';
import { type Bind, examples } from '../binding.ts';
import { completes } from '../completion/completes.ts';
import type { GatesFlags } from './gates-plan.ts';
import type { TriggerFlags } from './trigger.ts';
import type { NamedWaitFlags } from './wait.ts';
import { addWaitFlags, collect, type WaitFlags, waitSettings } from './wait-flags.ts';

function addBuildOptions(command: Command): Command {
  return command
    .optionsGroup('Build information:')
    .option('--repository <name>', 'repository (default: from the CI or git)')
    .option('--ref <ref>', 'branch or ref (default: from the CI or git)')
    .option('--commit-sha <sha>', 'commit hash (default: from the CI or git)')
    .option('--event <name>', 'event that triggered the pipeline')
    .option('--external-url <url>', 'URL of the CI build');
}

/** Defines `rungate run …`. The code of each command is loaded when it runs. */
export function defineRun(group: Command, bind: Bind): void {
  const trigger = group
    .command('trigger')
    .summary('start a test run, and with --wait gate on it')
    .description(
      'Start a test run and print its id. With --wait, wait until it ends and exit with its verdict.',
    )
    .optionsGroup('Selection:')
    .option('--project <slug>', 'the project (RUNGATE_PROJECT)')
    .option('--process <slug>', 'the process to run, unless --tag is given')
    .option(
      '--tag <tag>',
      'run the processes with this tag (repeatable, or separated by commas); the contract does not say whether one or all must match',
      collect,
    )
    .option('--environment <key>', "the environment (RUNGATE_ENVIRONMENT; default: the project's default)");
  addBuildOptions(trigger)
    .optionsGroup('Behaviour:')
    .option('--wait', 'wait for the run and exit with its verdict')
    .option('--no-wait', 'exit after starting the run (default), without the warning about a missing gate')
    .option(
      '--idempotency-key <key>',
      'idempotency key: the same key never starts a second run (default: auto)',
    )
    .option(
      '--idempotency-salt <text>',
      'text added to the automatic key, for example to distinguish matrix jobs',
    )
    .option('--explain-key', 'show on stderr how the key is made');
  // In commander the last one wins, so an argument at the end of a line could remove the gate.
  const waits = new Set<string>();
  for (const name of ['wait', 'no-wait']) {
    trigger.on(`option:${name}`, () => {
      if (waits.add(name).size === 2)
        throw new UsageError('--wait and --no-wait cannot be combined', { hint: 'leave one of them out' });
    });
  }
  completes(trigger, '--environment', { from: 'environment-keys' });
  addWaitFlags(trigger, true);
  examples(
    trigger,
    'rungate run trigger --project shop --process e2e --wait --strict --timeout 30m',
    'rungate run trigger --project shop --tag smoke --wait --timeout 30m',
    'run=$(rungate run trigger --project shop --process checkout)',
  );
  bind(trigger, {
    settings: async (flags: TriggerFlags) => (await import('./trigger.ts')).triggerSettings(flags),
    run: async (context, _args, flags: TriggerFlags) =>
      (await import('./trigger.ts')).triggerCommand(context, flags),
  });

  const wait = group
    .command('wait')
    .summary('wait for runs and gate on them')
    .description('Wait until the runs have ended and exit with their verdicts: 0 only if the gate passes.')
    .argument('<runId...>', 'ids of one or more runs')
    .optionsGroup('Options:')
    .option('--name <text>', 'name of the run in reports (default: its id); give it once per run', collect);
  addWaitFlags(wait, false);
  examples(
    wait,
    'run=$(rungate run trigger --project shop --process checkout)',
    'rungate run wait "$run" --strict --timeout 30m --junit rungate.xml',
    'rungate run wait "$run" --strict --timeout 30m --name "shop / checkout"',
  );
  bind(wait, {
    settings: async (flags: WaitFlags) => waitSettings(flags),
    run: async (context, [runIds], flags: NamedWaitFlags) =>
      (await import('./wait.ts')).waitCommand(context, runIds as string[], flags),
  });

  const gates = group
    .command('gates')
    .summary('run the gates of the project file')
    .description(
      'Start and wait for the gates that .rungate.json names, each when the gates that it needs have passed, and exit with the most severe exit code.',
    )
    .argument('[name...]', 'the gates to run, with those that they need (default: all)')
    .optionsGroup('Selection:')
    .option('--project <slug>', 'the project (RUNGATE_PROJECT)')
    .option('--environment <key>', 'the environment (RUNGATE_ENVIRONMENT)');
  addBuildOptions(gates)
    .optionsGroup('Behaviour:')
    .option('--fail-fast', 'cancel the other gates when one fails')
    .option('--dry-run', 'print the order, the requests and the idempotency keys, and send nothing')
    .option(
      '--idempotency-salt <text>',
      'text added to the automatic keys, for example to distinguish matrix jobs',
    )
    .option('--explain-key', 'show on stderr how the keys are made');
  completes(gates, '--environment', { from: 'environment-keys' });
  completes(gates, 'name', { from: 'gates' });
  addWaitFlags(gates, true, false);
  examples(
    gates,
    'rungate run gates --strict --timeout 30m',
    'rungate run gates web --fail-fast',
    'rungate run gates --dry-run',
  );
  bind(gates, {
    settings: async (flags: GatesFlags) => (await import('./gates.ts')).gatesSettings(flags),
    run: async (context, [names], flags: GatesFlags) =>
      (await import('./gates.ts')).gatesCommand(context, names as string[], flags),
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
    run: async (context, [runId]) => (await import('./status.ts')).statusCommand(context, String(runId)),
  });

  const open = group
    .command('open')
    .summary('open the page of a run in your browser')
    .description(
      'Open the page of a run (its appUrl) in your browser. Without a browser, as in a CI or a pipe, print the URL instead. BROWSER overrides the command that opens it.',
    )
    .argument('<runId>');
  examples(open, 'run=$(rungate run trigger --project shop --process checkout)', 'rungate run open "$run"');
  bind(open, {
    run: async (context, [runId]) => (await import('./open.ts')).openCommand(context, String(runId)),
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
    run: async (context, [runId], flags: { reason?: string }) =>
      (await import('./cancel.ts')).cancelCommand(context, String(runId), flags),
  });
}
