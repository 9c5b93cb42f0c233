import { StoppedError, type StopSignal } from '../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../exit.ts';
import type { CreatedRun } from '../gate/create.ts';
import { runService } from '../gate/service.ts';
import { type RunJournal, type Start, startRun } from '../gate/start.ts';
import { excerpt } from '../sanitize.ts';
import type { Context } from './context.ts';
import { gateProgress } from './gate-progress.ts';

/**
 * `rungate run trigger` without `--wait`: starts a run and prints its id. Stopped on the way, it still finds out and
 * prints which run it has started.
 */
export async function startOnly(context: Context, start: Start, journal?: RunJournal): Promise<number> {
  const { io, output } = context;
  const service = runService(await context.connect(), io.clock.now);
  const progress = await gateProgress(io, output, null);
  const stop = new AbortController();
  let stoppedBy: StopSignal | null = null;
  const unsubscribe = io.onStop((signal) => {
    stoppedBy = signal;
    progress.onStopping?.(signal);
    stop.abort(new StoppedError(signal));
  });
  try {
    const timeoutMs = context.settings.timeout?.value ?? 3_600_000;
    const tools = { service, clock: io.clock, stop: stop.signal, journal, onRetry: progress.onCreateRetry };
    const started = await startRun(start, timeoutMs, tools);
    const signal = stoppedBy as StopSignal | null;
    const { key } = started.step;
    if (started.kind === 'started') {
      await printStarted(context, started.run, key, started.reattached);
      journal?.settled(started.run.runId);
    } else if (started.kind === 'unknown') {
      await output.alert(`a run may have been created, with the idempotency key ${excerpt(key)}`);
    }
    return signal === null ? exitCodes.ok : exitCodeOfSignal(signal);
  } finally {
    unsubscribe();
    await progress.stop();
  }
}

async function printStarted(
  context: Context,
  run: CreatedRun,
  key: string,
  reattached: boolean,
): Promise<void> {
  const { output } = context;
  const { runId, appUrl, response } = run;
  if (output.format === 'json' || output.format === 'ndjson') {
    const report = { schemaVersion: 1, runId, appUrl, idempotencyKey: key, response: response ?? null };
    await output.data(report, { head: [], rows: [] });
  } else {
    await output.result(`${excerpt(runId, 1000)}\n`);
  }
  const what = reattached ? 'attached to the run that was started before:' : 'created run';
  await output.note(`${what} ${excerpt(runId, 80)}${appUrl === null ? '' : `: ${excerpt(appUrl, 500)}`}`);
}
