import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import type { RunJournal } from '../../gate/keys.ts';
import { usualLimits } from '../../gate/limits.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import type { RunSubject } from '../../gate/result-types.ts';
import type { Start, Started } from '../../gate/start.ts';
import { subjectOf } from '../../gate/subject.ts';
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
    printStarted(context, started, subjectOf(start.body)),
  );
  if (kind === 'unknown')
    await output.alert(`a run may have been created with the idempotency key ${output.excerpt(step.key)}`);
  return stoppedBy === null ? exitCodes.ok : exitCodeOfSignal(stoppedBy);
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
