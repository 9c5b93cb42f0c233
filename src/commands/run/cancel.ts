import type { JournalRun } from '../../ci/journal.ts';
import type { Exchange } from '../../client/caller.ts';
import { run, type TriggerBody } from '../../contract/run.ts';
import { RungateError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { createRun } from '../../gate/create.ts';
import { givenRunId } from '../../gate/run-id.ts';
import { readResponse } from '../../gate/run-status.ts';
import { type RunService, runService } from '../../gate/service.ts';
import type { Output } from '../../output/output.ts';
import type { Context } from '../context.ts';
import { fieldTable, speakOfPage } from '../endpoints/reply-table.ts';
import { filled } from '../global-options.ts';

/** What is known after a cancel: no more than the response shows, which the interface leaves open. */
function outcomeOf(reply: Exchange, runId: string, { excerpt }: Output): string {
  const { state } = readResponse(reply, runId);
  const run = `run ${excerpt(runId, 80)}`;
  if (state === 'completed') return `${run} had already completed, so there was nothing to cancel`;
  if (state === 'cancelled') return `${run} is cancelled`;
  const accepted = `the service accepted the request to cancel ${run}`;
  return state === null ? accepted : `${accepted}; its state is ${excerpt(state, 60)}`;
}

/** `rungate run cancel <runId>`: what the service replies is printed as it came; the interface does not show it. */
export async function cancelCommand(
  context: Context,
  runId: string,
  flags: { reason?: string },
): Promise<number> {
  givenRunId(runId);
  const reason = filled('--reason', flags.reason);
  const caller = await context.connect();
  const body = reason === undefined ? undefined : { reason };
  const reply = await caller.exchange('run.cancel', run['run.cancel'], { params: { runId }, body });
  const page = await speakOfPage(context.output, reply);
  if (reply.text !== '' && !page) await context.output.reply(reply.text, fieldTable(reply.text));
  if (!page) await context.output.note(outcomeOf(reply, runId, context.output));
  return exitCodes.ok;
}

/** For one run in all: the runner gives a post step little time. */
const timeoutMs = 30_000;

/** The id of a run whose create was never answered: the same key and bytes give it. */
async function idOf(run: JournalRun, service: RunService, context: Context): Promise<string | null> {
  if (run.runId !== null) return run.runId;
  if (run.body === null) return null;
  const idPointer = context.settings['run.idPointer']?.value;
  const request = { body: run.body as TriggerBody, idempotencyKey: run.key, idPointer };
  const { signal } = new AbortController();
  const creation = await createRun(request, timeoutMs, { service, clock: context.io.clock, signal });
  return creation.kind === 'created' ? creation.runId : null;
}

/** Cancels the runs that a journal says were started and that nobody has seen the end of. */
export async function cancelLeftBehind(context: Context, runs: readonly JournalRun[]): Promise<number> {
  const { io, output } = context;
  const service = runService(await context.connect(), io.clock.now);
  const signal = new AbortController().signal;
  let code: number = exitCodes.ok;
  for (const run of runs) {
    try {
      const runId = await idOf(run, service, context);
      if (runId === null || (await service.hasEnded(runId, { signal, timeoutMs }))) continue;
      await service.cancel(runId, 'rungate: the job was stopped before the run had ended', { timeoutMs });
      await output.alert(
        `asked the service to cancel run ${output.excerpt(runId, 80)}, which the stopped job had left going`,
      );
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      await output.alert(
        `a run that the job has started could not be cancelled: ${output.excerpt(error.message, 400)}`,
      );
      code = exitCodes.service;
    }
  }
  return code;
}
