import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import type { RunJournal } from '../../gate/events.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import type { StartedGate } from '../../gate/plan/started.ts';
import type { Start } from '../../gate/start.ts';
import { objectText } from '../../json/text.ts';
import { openStart } from '../../library/open-gate.ts';
import { fileIds, type OptionId, rowOf } from '../../options/table.ts';
import { wantsJson } from '../../output/json.ts';
import { inCi } from '../../output/motion.ts';
import { buildContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { printRequests } from './dry-run.ts';
import { openOptions, runGates } from './open-gate.ts';
import { progressLines } from './progress.ts';
import { replaceReceipts } from './receipt.ts';
import { planStart, triggerBody, warnOfReRuns } from './start.ts';
import { withSubjectFiles } from './subjects.ts';
import { type GateFlags, gateOf, waitFlags, waitRules } from './wait-flags.ts';

export interface TriggerFlags extends GateFlags {
  wait?: boolean;
}

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
function refuseWaitFlags(flags: TriggerFlags): void {
  const useless = waitFlags(flags).filter((name) => flags.wait !== false || promises.includes(name));
  if (useless.length === 0) return;
  const cause = flags.wait === false ? 'with --no-wait' : 'without --wait';
  const hint =
    flags.wait === false
      ? 'remove --no-wait, or give them to the run wait that follows'
      : useless.some((name) => promises.includes(name))
        ? 'use rungate gate, which waits, or add --wait'
        : 'use rungate gate, which waits, or add --no-wait if run wait follows';
  const names = new Intl.ListFormat('en').format(useless);
  throw new UsageError(`${names} ${useless.length === 1 ? 'has' : 'have'} no effect ${cause}`, { hint });
}

const weakens = (id: OptionId) => rowOf(id).weakens === true;

/** The settings that decide what a gate accepts, then the other settings of a wait. */
const gateSettings = [
  ...fileIds.filter(weakens),
  ...fileIds.filter((id) => !weakens(id) && (rowOf(id).group === 'Wait options:' || id === 'deployed.url')),
];

/** Warns that a CI job starts a run and does not wait for it, unless `--no-wait` says that it should not. */
async function warnWithoutWait(
  { io, output, settings }: Context,
  flags: TriggerFlags,
  provider: string | null,
): Promise<void> {
  if (flags.wait === false || (provider === null && !inCi(io.env))) return;
  const unused = gateSettings.flatMap((name) => {
    const setting = settings[name];
    return setting === undefined || setting.origin === 'default' ? [] : [`${name} (${setting.detail})`];
  });
  const effect =
    unused.length === 0
      ? 'the run cannot fail this job'
      : `no gate uses these settings: ${output.excerpt(unused.join(', '), 400)}`;
  await output.alert(
    `${output.paint('warn', 'warning:')} run trigger does not wait for the run, so ${effect}`,
  );
  await output.alert(
    `  ${output.paint('dim', '→')} use rungate gate, which waits, or --no-wait if run wait follows or you do not want a gate`,
  );
}

export async function triggerCommand(given: Context, givenFlags: TriggerFlags): Promise<number> {
  if (givenFlags.wait !== true) refuseWaitFlags(givenFlags);
  // An older receipt must not stay, whatever goes wrong from here on.
  const path = givenFlags.dryRun === true ? undefined : givenFlags.receipt;
  const openReceipts = replaceReceipts(given, path, [unnamed]);
  const [context, flags] = await withSubjectFiles(given, givenFlags);
  const { 'preview.baseUrl': preview } = context.settings;
  if (preview !== undefined)
    throw new ConfigError('run trigger creates no environment for a preview deployment', {
      hint: (say) => `use rungate gate, or remove ${say('preview.baseUrl')}`,
    });
  const ci = await buildContext(context);
  await warnOfReRuns(context, flags, ci);
  const body = triggerBody(context.settings, ci);
  const retries = flags.wait === true ? context.settings.retries?.value : undefined;
  const plan = () => planStart(context, { ...flags, retries }, body, ci);
  if (flags.dryRun === true) {
    const planned = await plan();
    return printRequests(context, [{ ...gateOf(context.settings, planned), ...planned }], flags);
  }
  const { settings } = context;
  const { policy } = waitRules(settings);
  const receipt = await openReceipts?.(context, [{ name: unnamed, policy, build: body }]);
  const planned = await plan();
  if (flags.wait === true) return runGates(context, [gateOf(context.settings, planned)], flags, receipt);
  await warnWithoutWait(context, flags, ci.provider);
  return startOnly(context, planned.start, planned.journal);
}

/** Without `--wait`: prints the id. If it is stopped on the way, it still finds and prints the run that it started. */
async function startOnly(context: Context, start: Start, journal?: RunJournal): Promise<number> {
  const { io, output, settings } = context;
  const { policy, timeoutMs } = waitRules(settings);
  const lines = progressLines(io, output, [{ name: unnamed, needs: [], advisory: false, start }]);
  const options = { ...openOptions(context), start, journal, policy, timeoutMs };
  const started = await openStart(options, [lines], (run) => printStarted(context, run));
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
