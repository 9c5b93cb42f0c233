import type { Start } from '../gate/create.ts';
import { runGate } from '../gate/gate.ts';
import { checkRunId, runService } from '../gate/service.ts';
import type { Context } from './context.ts';
import { gateProgress } from './gate-progress.ts';
import { printGate } from './gate-result.ts';
import { type WaitFlags, waitRules } from './run-flags.ts';

/** What is waited for: runs that are there, or one that is created first and then is ours. */
export type Watched = { runIds: readonly string[] } | { start: Start };

/** Waits, prints the gate and returns its exit code: the one path of `run wait` and `run trigger --wait`. */
export async function runWait(context: Context, watched: Watched, flags: WaitFlags): Promise<number> {
  const { io, output, settings } = context;
  const rules = waitRules(settings);
  const caller = await context.connect();
  const progress = await gateProgress(io, output, rules.maxAttempts);
  try {
    const report = await runGate(
      {
        ...watched,
        ...rules,
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
        observer: progress,
      },
    );
    progress.stop();
    await printGate(report, output);
    return report.exitCode;
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
