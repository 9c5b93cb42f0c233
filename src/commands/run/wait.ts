import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { runAttempts } from '../../gate/attempts.ts';
import type { OpenDeployed } from '../../gate/deployed/open.ts';
import type { OpenHub } from '../../gate/fleet/open-hub.ts';
import { intervalNote, shortestWaitMs } from '../../gate/limits.ts';
import { type GateReport, type RunReport, redactReport } from '../../gate/report.ts';
import { parseRunId } from '../../gate/run-id.ts';
import { runService } from '../../gate/service.ts';
import type { RunJournal, Start } from '../../gate/start.ts';
import { named, subjectOf } from '../../gate/subject.ts';
import { isLocal } from '../../transport/address.ts';
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';
import { openCommandHub } from './hub.ts';
import { gateProgress } from './progress.ts';
import type { WriteReceipt } from './receipt.ts';
import { printGate } from './result.ts';
import { asksForBuild, fleetOf, type WaitFlags, waitRules } from './wait-flags.ts';

/** The runs to wait for: existing ones, or one that this command creates and owns. */
export type GateTarget =
  | { runIds: readonly string[]; names?: readonly string[] | undefined }
  | { start: Start; journal?: RunJournal | undefined };

/** Returns the facts about the runs that are known before anything is sent. */
function knownRuns(target: GateTarget): Partial<RunReport>[] {
  if ('start' in target) return [subjectOf(target.start.body)];
  return target.runIds.map((runId, at) => ({ runId, ...named(target.names?.[at]) }));
}

/** Returns a function that gives the name of a run, or null if it only has an id. */
function namesIn(target: GateTarget): (runId: string) => string | null {
  if ('start' in target) return () => subjectOf(target.start.body).name;
  return (runId) => target.names?.[target.runIds.indexOf(runId)] ?? null;
}

/** Returns the commit of the run that is created; undefined if that is unknown. */
const commitOf = (target: GateTarget) =>
  'start' in target ? (target.start.body.commitSha ?? undefined) : undefined;

/** Waits, prints the gate and returns its exit code. Both `run wait` and `run trigger --wait` use it. */
export async function runWait(
  context: Context,
  target: GateTarget,
  flags: WaitFlags,
  writeReceipt?: WriteReceipt,
): Promise<number> {
  const facts = { startedAt: context.io.clock.now() };
  let report: GateReport;
  try {
    report = redactReport(await waitForGate(context, target, flags), context.output.redact);
  } catch (error) {
    if (hasReports(context, flags)) {
      await (await import('./reports.ts')).writeUnstarted(context, error, knownRuns(target), flags, facts);
    }
    throw error;
  }
  await printGate(report, context);
  const receipt = (await writeReceipt?.(report, facts.startedAt)) ?? 'none';
  // A receipt that could not be written fails a passing gate. A failing gate keeps its exit code.
  const exitCode = receipt === 'failed' ? report.exitCode || exitCodes.config : report.exitCode;
  if (!hasReports(context, flags)) return exitCode;
  const path = receipt === 'written' ? flags.receipt : undefined;
  return (await import('./reports.ts')).writeReports(context, { ...report, exitCode }, flags, facts, path);
}

/** Returns whether a report is requested or a CI reads one; otherwise the formats are not loaded. */
export function hasReports({ io: { env } }: Context, { junit, report }: WaitFlags): boolean {
  const requested = junit !== undefined || report !== undefined;
  return requested || env.GITHUB_ACTIONS !== undefined || env.TF_BUILD !== undefined;
}

/** Removes the receipt of an earlier gate, if one is requested. Otherwise nothing of receipts is loaded. */
export async function replaceReceipt(context: Context, { receipt }: WaitFlags) {
  if (receipt === undefined) return undefined;
  return (await import('./receipt.ts')).replaceReceipt(context, receipt);
}

async function waitForGate(context: Context, target: GateTarget, flags: WaitFlags): Promise<GateReport> {
  const { io, output, settings } = context;
  const rules = waitRules(settings);
  const fleet = fleetOf(settings, flags, io.random);
  const local = isLocal(settings.apiUrl?.value ?? '');
  const note =
    settings.interval?.origin === 'flag'
      ? intervalNote('--interval', rules.intervalMs, local)
      : intervalNote('the setting interval', rules.intervalMs, local, ConfigError);
  const caller = await context.connect();
  if (note !== null) await output.alert(`${output.paint('warn', 'warning:')} ${note}`);
  const progress = await gateProgress(io, output, rules, namesIn(target));
  let hub: OpenHub | undefined;
  let deployed: OpenDeployed | undefined;
  try {
    hub = await openCommandHub(context, progress.emit);
    if (hub !== undefined && fleet !== undefined)
      progress.emit({
        type: 'note',
        message: 'the hub schedules the requests: the fleet size has no effect',
      });
    if (asksForBuild(settings, flags)) {
      const { openCommandDeployed } = await import('./deployed.ts');
      deployed = await openCommandDeployed(context, flags, commitOf(target), progress.emit);
    }
    const { report } = await runAttempts(
      {
        ...target,
        ...rules,
        shortestMs: shortestWaitMs(local),
        fleet,
        cancelOnInterrupt: flags.cancelOnInterrupt ?? 'start' in target,
        cancelOnTimeout: flags.cancelOnTimeout === true,
        // Loaded when needed: most runs are never cancelled.
        cancelReason: async (why) => (await import('../../ci/provider.ts')).cancelReason(why, io.env),
      },
      {
        service: runService(caller, io.clock.now),
        clock: io.clock,
        random: io.random,
        onStop: io.onStop,
        emit: progress.emit,
        onWatch: progress.onWatch,
        journal: 'journal' in target ? target.journal : undefined,
        hub: hub?.link,
        deployed: deployed?.check,
      },
    );
    return report;
  } finally {
    await hub?.close();
    await deployed?.close();
    progress.stop();
  }
}

export interface NamedWaitFlags extends WaitFlags {
  name?: string[];
}

/** Refuses names that do not identify each run: reports compare runs by name from build to build. */
function checkNames(names: readonly string[], runIds: readonly string[]): void {
  for (const name of names) filled('--name', name);
  if (names.length !== runIds.length) {
    const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
    throw new UsageError(`--name: ${count(names.length, 'name')} for ${count(runIds.length, 'run')}`, {
      hint: 'give --name once for each run, in the order of the ids',
    });
  }
  if (new Set(names).size < names.length) {
    throw new UsageError('--name: two runs have the same name', { hint: 'give each run its own name' });
  }
}

/** Returns the facts of the CI job. Another job may have started the runs, so their environment is unknown. */
async function factsOfJob({ io }: Context) {
  const [{ ciContext }, { runFacts }] = await Promise.all([
    import('../ci-context.ts'),
    import('../../ci/context.ts'),
  ]);
  return runFacts(await ciContext(io));
}

/** `rungate run wait <runId>…` */
export async function waitCommand(
  context: Context,
  given: readonly string[],
  flags: NamedWaitFlags,
): Promise<number> {
  if (flags.retries !== undefined) {
    throw new UsageError('run wait cannot retry: it starts no runs', {
      hint: 'give --retries to run trigger --wait',
    });
  }
  const runIds = [...new Set(given.map(parseRunId))];
  if (flags.name !== undefined) checkNames(flags.name, runIds);
  const openReceipt = await replaceReceipt(context, flags);
  const writeReceipt = await openReceipt?.(await factsOfJob(context));
  return runWait(context, { runIds, names: flags.name }, flags, writeReceipt);
}
