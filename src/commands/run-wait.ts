import { formatDuration } from '../duration.ts';
import { runGate } from '../gate/gate.ts';
import type { GateReport } from '../gate/report.ts';
import { checkRunId, runService } from '../gate/service.ts';
import type { RunJournal, Start } from '../gate/start.ts';
import type { Context } from './context.ts';
import { gateProgress } from './gate-progress.ts';
import { writeReports, writeUnstarted } from './gate-reports.ts';
import { printGate } from './gate-result.ts';
import { fleetOf, type WaitFlags, waitRules } from './run-flags.ts';

/** What is waited for: runs that are there, or one that is created first and then is ours. */
export type Watched = { runIds: readonly string[] } | { start: Start; journal?: RunJournal | undefined };

/** Waits, prints the gate and returns its exit code: the one path of `run wait` and `run trigger --wait`. */
export async function runWait(context: Context, watched: Watched, flags: WaitFlags): Promise<number> {
  const facts = { startedAt: context.io.clock.now(), created: 'start' in watched };
  let report: GateReport;
  try {
    report = await waitForGate(context, watched, flags);
  } catch (error) {
    const runIds = 'runIds' in watched ? watched.runIds : [];
    await writeUnstarted(context, error, runIds, flags, facts);
    throw error;
  }
  await printGate(report, context.output);
  return writeReports(context, report, flags, facts);
}

async function waitForGate(context: Context, watched: Watched, flags: WaitFlags): Promise<GateReport> {
  const { io, output, settings } = context;
  const rules = waitRules(settings);
  const fleet = fleetOf(settings, flags, io.random);
  const caller = await context.connect();
  const progress = await gateProgress(io, output, rules.maxAttempts);
  try {
    return await runGate(
      {
        ...watched,
        ...rules,
        fleet,
        cancelOnInterrupt: flags.cancelOnInterrupt ?? 'start' in watched,
        cancelOnTimeout: flags.cancelOnTimeout === true,
        cancelReason: (why) =>
          why === 'timeout' ? 'rungate: the wait timed out' : `rungate: stopped by ${why}`,
      },
      {
        service: runService(caller, io.clock.now),
        clock: io.clock,
        random: io.random,
        onStop: io.onStop,
        observer: Object.assign(progress, {
          onTurn: (waitMs: number) =>
            void output.note(
              `waiting ${formatDuration(waitMs)} for this gate's turn in the fleet to start its run`,
            ),
        }),
        journal: 'journal' in watched ? watched.journal : undefined,
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
  for (const runId of runIds) checkRunId(runId);
  return runWait(context, { runIds: [...new Set(runIds)] }, flags);
}
