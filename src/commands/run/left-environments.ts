import type { environmentsOf, JournalRun } from '../../ci/journal.ts';
import { RungateError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { deleteOwn } from '../../preview/environments.ts';
import type { Context } from '../context.ts';

/** The time for finding and deleting one, in milliseconds. */
const deleteMs = 90_000;

/**
 * Deletes the environments that a stopped job has left, by their keys, with the last step of each. One in which a run may go on
 * stays.
 * @param runs the runs that the job has started, and those of them that may go on
 */
export async function deleteLeft(
  context: Context,
  environments: ReturnType<typeof environmentsOf>,
  runs: { all: readonly JournalRun[]; open: readonly JournalRun[] },
): Promise<number> {
  const { io, output } = context;
  const { clock } = io;
  const caller = await context.connect();
  const remove = async (key: string, step: string | undefined): Promise<string | null> => {
    const uses = ({ body }: JournalRun) => body === null || Object(body).environmentKey === key;
    // The job created it before its re-run, and has not seen the run of that time.
    const isUnsure = step === 'found' && !runs.all.some(uses);
    if (isUnsure || runs.open.some(uses)) return 'a run may go on in it';
    const done = new AbortController();
    const limit = new AbortController();
    clock.sleep(deleteMs, done.signal).then(
      () => limit.abort(),
      () => {},
    );
    try {
      const deletion = await deleteOwn(key, { caller, clock }, { signal: limit.signal });
      // The request that creates it may never have arrived, or the stopped job has deleted it.
      if (deletion === 'missing') return null;
      if (deletion === 'foreign') return 'its name is not the one that rungate gave it';
      await output.alert(`deleted environment ${key}, which the stopped job left`);
      return null;
    } catch (error) {
      if (limit.signal.aborted) return 'the time for deleting it was over';
      if (!(error instanceof RungateError)) throw error;
      return error.message;
    } finally {
      done.abort();
    }
  };
  const outcomes = await Promise.all(
    [...environments].map(async ([key, step]) => {
      const problem = await remove(key, step);
      if (problem === null) return exitCodes.ok;
      await output.alert(`environment ${key} was not deleted: ${output.excerpt(problem, 400)}`);
      await output.alert(`  → later, run: rungate env delete ${key}`);
      return exitCodes.service;
    }),
  );
  return Math.max(exitCodes.ok, ...outcomes);
}
