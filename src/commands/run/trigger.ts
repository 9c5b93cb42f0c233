import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import type { StartingGate } from '../../gate/plan/plan.ts';
import type { StartedGate } from '../../gate/plan/started.ts';
import { objectText } from '../../json/text.ts';
import { openStart } from '../../library/open-gate.ts';
import { type Flags, fileIds, type OptionId, rowOf } from '../../options/table.ts';
import { wantsJson } from '../../output/json.ts';
import { runsInCi } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { givenOptions } from '../options.ts';
import { command, rowOptions, under } from '../spec.ts';
import { dryRun } from './dry-run.ts';
import { onlyGate, planGates } from './plan.ts';
import { progressLines } from './progress.ts';
import { checkReportFlags } from './reports.ts';
import { openOptions, runGates } from './run-gates.ts';

/** Options whose promise nothing keeps without a wait. */
const promises = [
  '--junit',
  '--report',
  '--receipt',
  '--subject',
  '--subject-file',
  '--deployed-url',
  '--deployed-is',
];

/**
 * Refuses options of a wait on a command that does not wait. With `--no-wait`, the policy and the limits are allowed, since
 * several commands may share their arguments; a report is not, since none would be written, and neither is the deployed build,
 * since nothing would check it.
 */
function refuseWaitFlags(flags: Flags): void {
  const groups = ['Wait options:', 'Reports:', 'Deployed build:'];
  const useless = givenOptions(flags, ({ group = '' }) => groups.includes(group)).filter(
    (name) => flags.wait !== false || promises.includes(name),
  );
  if (useless.length === 0) return;
  const cause = flags.wait === false ? 'with --no-wait' : 'without --wait';
  const hint =
    flags.wait === false
      ? 'remove --no-wait, or give them to the run wait command that follows'
      : useless.some((name) => promises.includes(name))
        ? 'use rungate gate, which waits, or add --wait'
        : 'use rungate gate, which waits, or add --no-wait if run wait follows';
  const names = new Intl.ListFormat('en').format(useless);
  throw new UsageError(`${names} ${useless.length === 1 ? 'has' : 'have'} no effect ${cause}`, { hint });
}

const weakens = (id: OptionId) => Number(rowOf(id).weakens === true);

/** The settings that decide what a gate accepts, then the other settings of a wait. */
const gateSettings = fileIds
  .filter((id) => weakens(id) || rowOf(id).group === 'Wait options:' || id === 'deployed.url')
  .toSorted((a, b) => weakens(b) - weakens(a));

/** Warns that a CI job starts a run and does not wait for it, unless `--no-wait` says that it should not. */
async function warnWithoutWait({ io, flags, output, settings }: Context): Promise<void> {
  if (flags.wait === false || !runsInCi(io.env)) return;
  const unused = gateSettings.flatMap((name) => {
    const setting = settings[name];
    return setting === undefined || setting.origin === 'default' ? [] : [`${name} (${setting.detail})`];
  });
  const effect =
    unused.length === 0
      ? 'the run cannot fail this job'
      : `no gate uses these settings: ${output.excerpt(unused.join(', '), 400)}`;
  await output.warn(
    `run trigger does not wait for the run, so ${effect}`,
    'use rungate gate, which waits, or --no-wait if run wait follows or you do not want a gate',
  );
}

/** Creates a run, and with `--wait` waits for it and exits with the result. */
export const runTrigger = command({
  name: 'trigger',
  summary: 'start a test run; with --wait, gate on it',
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
  async run(context, _args, flags) {
    const { settings, nameOf } = context;
    if (flags.wait !== true) refuseWaitFlags(flags);
    if (settings['preview.baseUrl'] !== undefined)
      throw new ConfigError('run trigger creates no environment for a preview deployment', {
        hint: `use rungate gate, or remove ${nameOf('preview.baseUrl')}`,
      });
    if (flags.wait === true) return runGates(context, [onlyGate(settings)]);
    const { retries: _, ...others } = settings;
    const gate = onlyGate(others);
    if (flags.dryRun === true) return runGates(context, [gate]);
    const { gates } = await planGates(context, [gate]);
    await warnWithoutWait(context);
    return startOnly(context, gates[0] as StartingGate);
  },
});

/** Without `--wait`: prints the id. If it is stopped on the way, it still finds and prints the run that it started. */
async function startOnly(context: Context, gate: StartingGate): Promise<number> {
  const { output } = context;
  const lines = progressLines(context, [gate]);
  const started = await openStart(openOptions(context), gate, [lines], (run) => printStarted(context, run));
  if (started.kind === 'unknown')
    await output.alert(
      `a run may have been created with the idempotency key ${output.excerpt(started.idempotencyKey)}`,
    );
  return started.stoppedBy === null ? exitCodes.ok : exitCodeOfSignal(started.stoppedBy);
}

async function printStarted({ output }: Context, { run, responseText }: StartedGate): Promise<void> {
  if (wantsJson(output)) {
    const { reattached: _, ...report } = run;
    const texts = Object.entries(report).map(([name, value]) => [name, JSON.stringify(value)] as const);
    // As text, so that numbers keep their digits.
    const members = new Map(texts).set('response', responseText.trim() || 'null');
    await output.response(objectText(members), { head: [], rows: [] });
  } else {
    await output.result(`${output.excerpt(run.runId, 1000)}\n`);
  }
}
