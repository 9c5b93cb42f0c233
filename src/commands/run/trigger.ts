import type { TriggerBody } from '../../contract/run.ts';
import { ConfigError } from '../../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import type { RunJournal } from '../../gate/events.ts';
import { usualLimits } from '../../gate/limits.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import { reportStarted, type Start, type StartedCandidate } from '../../gate/start.ts';
import { objectText } from '../../json/text.ts';
import { openStart } from '../../library/open-gate.ts';
import { ciContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { type GateFlags, gateOf } from './command-gate.ts';
import { printRequests } from './dry-run.ts';
import { openOptions, runGates } from './open-gate.ts';
import { progressLines } from './progress.ts';
import { replaceReceipts } from './receipt.ts';
import { planStart, triggerBody, warnOfReRuns } from './start.ts';
import { withSubjectFiles } from './subjects.ts';
import { waitRules } from './wait-flags.ts';
import { refuseWaitFlags, warnWithoutWait } from './without-wait.ts';

export interface TriggerFlags extends GateFlags {
  wait?: boolean;
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
  const ci = await ciContext(context.io);
  await warnOfReRuns(context, flags, ci);
  const body = triggerBody(context.settings, ci);
  const retries = flags.wait === true ? context.settings.retries?.value : undefined;
  const plan = () => planStart(context, { ...flags, retries }, body, ci);
  if (flags.dryRun === true) {
    const planned = await plan();
    return printRequests(context, [{ ...gateOf(context, planned), ...planned }], flags);
  }
  const { settings } = context;
  const receipt = await openReceipts?.(context, [{ name: unnamed, settings, build: body }]);
  const planned = await plan();
  if (flags.wait === true) return runGates(context, [gateOf(context, planned)], flags, receipt);
  await warnWithoutWait(context, flags, ci.provider);
  return startOnly(context, planned.start, planned.journal);
}

/** Without `--wait`: prints the id. If it is stopped on the way, it still finds and prints the run that it started. */
export async function startOnly(context: Context, start: Start, journal?: RunJournal): Promise<number> {
  const { io, output, settings } = context;
  const { policy } = waitRules(settings);
  const timeoutMs = settings.timeout?.value ?? usualLimits.timeoutMs;
  const lines = progressLines(io, output, [{ name: unnamed, needs: [], advisory: false, start }]);
  const options = { ...openOptions(context), start, journal, policy, timeoutMs };
  const { kind, step, stoppedBy } = await openStart(options, [lines], (started) =>
    printStarted(context, start.body, started),
  );
  if (kind === 'unknown')
    await output.alert(`a run may have been created with the idempotency key ${output.excerpt(step.key)}`);
  return stoppedBy === null ? exitCodes.ok : exitCodeOfSignal(stoppedBy);
}

async function printStarted(
  { output }: Context,
  body: TriggerBody,
  started: StartedCandidate,
): Promise<void> {
  const { runId, responseText } = started.run;
  if (output.format === 'json' || output.format === 'ndjson') {
    const { reattached: _, ...report } = reportStarted(body, started);
    const texts = Object.entries(report).map(([name, value]) => [name, JSON.stringify(value)] as const);
    // As text, so that numbers keep their digits.
    const members = new Map(texts).set('response', responseText.trim() || 'null');
    await output.response(objectText(members), { head: [], rows: [] });
  } else {
    await output.result(`${output.excerpt(runId, 1000)}\n`);
  }
}
