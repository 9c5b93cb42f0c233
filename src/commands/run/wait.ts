import { ConfigError } from '../../errors.ts';
import { runGate } from '../../gate/gate.ts';
import { intervalNote, shortestWaitMs } from '../../gate/limits.ts';
import { concealReport, type GateReport } from '../../gate/report.ts';
import { givenRunId } from '../../gate/run-id.ts';
import { runService } from '../../gate/service.ts';
import type { RunJournal, Start } from '../../gate/start.ts';
import { isLocal } from '../../transport/address.ts';
import type { Context } from '../context.ts';
import { gateProgress } from './progress.ts';
import { printGate } from './result.ts';
import { fleetOf, type WaitFlags, waitRules } from './wait-flags.ts';

/** What is waited for: runs that are there, or one that is created first and then is ours. */
export type GateTarget = { runIds: readonly string[] } | { start: Start; journal?: RunJournal | undefined };

/** Waits, prints the gate and returns its exit code: the one path of `run wait` and `run trigger --wait`. */
export async function runWait(context: Context, target: GateTarget, flags: WaitFlags): Promise<number> {
  const facts = { startedAt: context.io.clock.now(), created: 'start' in target };
  let report: GateReport;
  try {
    report = concealReport(await waitForGate(context, target, flags), context.output.conceal);
  } catch (error) {
    const runIds = 'runIds' in target ? target.runIds : [];
    if (tellsAnybody(context, flags)) {
      await (await import('./reports.ts')).writeUnstarted(context, error, runIds, flags, facts);
    }
    throw error;
  }
  await printGate(report, context);
  if (!tellsAnybody(context, flags)) return report.exitCode;
  return (await import('./reports.ts')).writeReports(context, report, flags, facts);
}

/** Whether somebody asked for a report, or a CI is there that reads of itself: else the formats are not even loaded. */
function tellsAnybody({ io: { env } }: Context, { junit, report }: WaitFlags): boolean {
  const asked = junit !== undefined || report !== undefined;
  return asked || env.GITHUB_ACTIONS !== undefined || env.TF_BUILD !== undefined;
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
  const progress = await gateProgress(io, output, rules);
  try {
    return await runGate(
      {
        ...target,
        ...rules,
        shortestMs: shortestWaitMs(local),
        fleet,
        cancelOnInterrupt: flags.cancelOnInterrupt ?? 'start' in target,
        cancelOnTimeout: flags.cancelOnTimeout === true,
        // Found out when it is needed: most runs are never cancelled.
        cancelReason: async (why) => (await import('../../ci/provider.ts')).cancelReason(why, io.env),
      },
      {
        service: runService(caller, io.clock.now),
        clock: io.clock,
        random: io.random,
        onStop: io.onStop,
        tell: progress.tell,
        onWatch: progress.onWatch,
        journal: 'journal' in target ? target.journal : undefined,
      },
    );
  } finally {
    progress.stop();
  }
}

/** `rungate run wait <runId>…` */
export async function waitCommand(
  context: Context,
  runIds: readonly string[],
  flags: WaitFlags,
): Promise<number> {
  return runWait(context, { runIds: [...new Set(runIds.map(givenRunId))] }, flags);
}
