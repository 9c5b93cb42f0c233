import type { JournalEnvironment, JournalRun } from '../../ci/journal.ts';
import type { Listed } from '../../client/environments.ts';
import { inTime } from '../../clock.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { RungateError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { runIdOf } from '../../gate/run-id.ts';
import { type RunService, runService } from '../../gate/service.ts';
import { deleteOwn } from '../../preview/environments.ts';
import { isOwn } from '../../preview/mark.ts';
import type { Context } from '../context.ts';

/** The limit of each request; the CI gives a post step little time. */
const timeoutMs = 30_000;

/** Returns the id of a run. If the response with it was lost, the same key and bytes get it again. */
async function idOf(
  run: JournalRun,
  service: RunService,
  { settings, nameOf }: Context,
): Promise<string | null> {
  if (run.runId !== null) return run.runId;
  if (run.body === null) return null;
  const idPointer = settings['run.idPointer']?.value;
  const body = run.body as TriggerBody;
  const response = await service.trigger(body, { idempotencyKey: run.key, timeoutMs });
  return runIdOf(response, idPointer, { ...body, idempotencyKey: run.key }, nameOf);
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
  let code: number = exitCodes.ok;
  const cancel = async (run: JournalRun): Promise<readonly JournalRun[]> => {
    try {
      const runId = await idOf(run, service, context);
      if (runId === null) return [run];
      if (await service.hasEnded(runId, { timeoutMs })) return [];
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

/** The time for finding and deleting one, in milliseconds. */
const deleteMs = 90_000;

/**
 * Deletes the environments that a stopped job has left. One in which a run may go on stays.
 * @param runs the runs that the job has started, and those of them that may go on
 */
export async function deleteLeft(
  context: Context,
  environments: readonly JournalEnvironment[],
  runs: { all: readonly JournalRun[]; open: readonly JournalRun[] },
): Promise<number> {
  const { io, output } = context;
  const { clock } = io;
  const caller = await context.connect();
  /** Returns why the environment is left, or null. */
  const remove = async ({ key, step, baseUrl }: JournalEnvironment): Promise<string | null> => {
    const uses = ({ body }: JournalRun) => body === null || Object(body).environmentKey === key;
    // The job created it before its re-run, and has not seen the run of that time.
    const isUnsure = step === 'found' && !runs.all.some(uses);
    if (isUnsure || runs.open.some(uses)) return 'a run may still use it';
    // The journal has no query, since that may be a secret.
    const isOurs = (one: Listed) => isOwn({ ...one, baseUrl: one.baseUrl?.replace(/\?.*/s, '') }, baseUrl);
    try {
      const work = (signal: AbortSignal) => deleteOwn(key, isOurs, { caller, clock }, { signal });
      const deletion = await inTime(deleteMs, work, clock);
      if (deletion === undefined) return 'no time was left to delete it';
      if (deletion === 'foreign') return 'its name or its base URL is not the one that rungate gave it';
      // If it is missing, its request never arrived, or the stopped job has deleted it.
      if (deletion === 'deleted')
        await output.alert(`deleted environment ${key}, which the stopped job left behind`);
      return null;
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      return error.message;
    }
  };
  let code: number = exitCodes.ok;
  const each = async (environment: JournalEnvironment) => {
    const { key } = environment;
    const problem = await remove(environment);
    if (problem === null) return;
    code = exitCodes.service;
    await output.alert(`environment ${key} was not deleted: ${output.excerpt(problem, 400)}`);
    await output.alert(`  → later, run: rungate env delete ${key}`);
  };
  await Promise.all(environments.map(each));
  return code;
}
