import { objectText } from '../../client/json-text.ts';
import { StoppedError, type StopSignal } from '../../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import type { OpenHub } from '../../gate/fleet/open-hub.ts';
import { permitCreate } from '../../gate/fleet/permit.ts';
import { usualLimits } from '../../gate/limits.ts';
import { runService } from '../../gate/service.ts';
import { type RunJournal, type Start, type Started, startRun } from '../../gate/start.ts';
import { type RunSubject, subjectOf } from '../../gate/subject.ts';
import type { Context } from '../context.ts';
import { openCommandHub } from './hub.ts';
import { gateProgress } from './progress.ts';

/**
 * `rungate run trigger` without `--wait`: starts a run and prints its id. If it is stopped on the way, it still finds and
 * prints the run that it started.
 */
export async function startOnly(context: Context, start: Start, journal?: RunJournal): Promise<number> {
  const { io, output } = context;
  const service = runService(await context.connect(), io.clock.now);
  const progress = await gateProgress(io, output, null, () => subjectOf(start.body).name);
  let hub: OpenHub | undefined;
  const stop = new AbortController();
  let stoppedBy: StopSignal | null = null;
  const unsubscribe = io.onStop((signal) => {
    stoppedBy = signal;
    progress.emit({ type: 'stopping', by: signal });
    stop.abort(new StoppedError(signal));
  });
  try {
    const timeoutMs = context.settings.timeout?.value ?? usualLimits.timeoutMs;
    hub = await openCommandHub(context, progress.emit);
    const { emit } = progress;
    const tools = { service, clock: io.clock, signal: stop.signal, journal, emit, hub: hub?.link };
    await permitCreate(timeoutMs, tools);
    const started = await startRun(start, timeoutMs, tools);
    const signal = stoppedBy as StopSignal | null;
    if (started.kind === 'started') {
      await printStarted(context, started, subjectOf(start.body));
      journal?.settled(started.run.runId);
    } else if (started.kind === 'unknown') {
      await output.alert(
        `a run may have been created with the idempotency key ${output.excerpt(started.step.key)}`,
      );
    }
    return signal === null ? exitCodes.ok : exitCodeOfSignal(signal);
  } finally {
    unsubscribe();
    await hub?.close();
    progress.stop();
  }
}

async function printStarted(
  { output }: Context,
  { run, step, discarded }: Extract<Started, { kind: 'started' }>,
  subject: RunSubject,
): Promise<void> {
  const { runId, appUrl, responseText } = run;
  if (output.format === 'json' || output.format === 'ndjson') {
    const also = discarded.length === 0 ? {} : { discarded };
    const report = {
      schemaVersion: 1,
      runId,
      ...subject,
      appUrl,
      idempotencyKey: step.key,
      response: null,
      ...also,
    };
    // As text, so that numbers keep their digits.
    const texts = Object.entries(report).map(([name, value]) => [name, JSON.stringify(value)] as const);
    const members = new Map(texts).set('response', responseText.trim() || 'null');
    await output.response(objectText(members), { head: [], rows: [] });
  } else {
    await output.result(`${output.excerpt(runId, 1000)}\n`);
  }
}
