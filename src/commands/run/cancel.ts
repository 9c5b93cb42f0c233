import type { JournalRun } from '../../ci/journal.ts';
import type { Exchange } from '../../client/caller.ts';
import { run, type TriggerBody } from '../../contract/run.ts';
import { RungateError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { createRun } from '../../gate/create.ts';
import { checkRunId } from '../../gate/run-id.ts';
import { readResponse } from '../../gate/run-status.ts';
import { type RunService, runService } from '../../gate/service.ts';
import type { Output } from '../../output/output.ts';
import type { Context } from '../context.ts';
import { fieldTable, warnOfHtml } from '../endpoints/response-table.ts';
import { filled } from '../options.ts';

/** Describes the result of a cancel as far as the response shows it; the API does not describe it. */
function cancelSummary(response: Exchange, runId: string, { excerpt }: Output): string {
  const { state } = readResponse(response, runId);
  const run = `run ${excerpt(runId, 80)}`;
  if (state === 'completed') return `${run} had already completed, so there was nothing to cancel`;
  if (state === 'cancelled') return `${run} is cancelled`;
  const accepted = `the service accepted the request to cancel ${run}`;
  return state === null ? accepted : `${accepted}; its state is ${excerpt(state, 60)}`;
}

/** `rungate run cancel <runId>`: prints the response of the service unchanged, since the API does not describe it. */
export async function cancelCommand(
  context: Context,
  runId: string,
  flags: { reason?: string },
): Promise<number> {
  checkRunId(runId);
  const reason = filled('--reason', flags.reason);
  const caller = await context.connect();
  const body = reason === undefined ? undefined : { reason };
  const response = await caller.exchange('run.cancel', run['run.cancel'], { params: { runId }, body });
  const page = await warnOfHtml(context, response);
  if (response.text !== '' && !page) await context.output.response(response.text, fieldTable(response.text));
  if (!page) await context.output.note(cancelSummary(response, runId, context.output));
  return exitCodes.ok;
}

/** The limit of each request; the CI gives a post step little time. */
const timeoutMs = 30_000;

/** Returns the id of a run. If the response with it was lost, the same key and bytes get it again. */
async function idOf(run: JournalRun, service: RunService, context: Context): Promise<string | null> {
  if (run.runId !== null) return run.runId;
  if (run.body === null) return null;
  const idPointer = context.settings['run.idPointer']?.value;
  const request = { body: run.body as TriggerBody, idempotencyKey: run.key, idPointer };
  const { signal } = new AbortController();
  const { clock, random } = context.io;
  const tools = { service, clock, random, signal };
  const deadline = clock.monotonic() + timeoutMs;
  const creation = await createRun(request, { latest: deadline, deadline }, tools);
  return creation.kind === 'created' ? creation.runId : null;
}

/**
 * Cancels the runs that a journal lists as started and not ended, all at once: a slow response delays only its own run.
 * @returns the exit code, and the runs that may go on
 */
export async function cancelUnfinished(
  context: Context,
  runs: readonly JournalRun[],
): Promise<{ code: number; open: readonly JournalRun[] }> {
  const { io, output } = context;
  const service = runService(await context.connect(), io.clock.now);
  const signal = new AbortController().signal;
  let code: number = exitCodes.ok;
  const cancel = async (run: JournalRun): Promise<readonly JournalRun[]> => {
    try {
      const runId = await idOf(run, service, context);
      if (runId === null) return [run];
      if ((await service.readEnd(runId, { signal, timeoutMs })) !== null) return [];
      await service.cancel(runId, 'rungate: the job was stopped before the run ended', { timeoutMs });
      await output.alert(
        `asked the service to cancel run ${output.excerpt(runId, 80)}, which the stopped job left running`,
      );
      return [];
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      await output.alert(
        `a run that the job started could not be cancelled: ${output.excerpt(error.message, 400)}`,
      );
      code = exitCodes.service;
      return [run];
    }
  };
  const open = (await Promise.all(runs.map(cancel))).flat();
  return { code, open };
}
