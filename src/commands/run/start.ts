import type { TriggerBody } from '../../contract/run.ts';
import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import type { RunJournal } from '../../gate/keys.ts';
import { usualLimits } from '../../gate/limits.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import { reportStarted, type Start, type StartedCandidate } from '../../gate/start.ts';
import { objectText } from '../../json/text.ts';
import { openStart } from '../../library/open-gate.ts';
import type { Context } from '../context.ts';
import { openOptions } from './hub.ts';
import { progressLines } from './progress.ts';
import { waitRules } from './wait-flags.ts';

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
