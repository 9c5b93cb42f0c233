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
  /** Returns why the environment is left, or null. */
  const remove = async (key: string, step: string | undefined): Promise<string | null> => {
    const uses = ({ body }: JournalRun) => body === null || Object(body).environmentKey === key;
    // The job created it before its re-run, and has not seen the run of that time.
    const isUnsure = step === 'found' && !runs.all.some(uses);
    if (isUnsure || runs.open.some(uses)) return 'a run may go on in it';
    const limit = new AbortController();
    const done = new AbortController();
    const late = () => limit.abort();
    clock.sleep(deleteMs, done.signal).then(late, () => {});
    try {
      const deletion = await deleteOwn(key, { caller, clock }, { signal: limit.signal });
      if (deletion === 'foreign') return 'its name is not the one that rungate gave it';
      // If it is missing, its request never arrived, or the stopped job has deleted it.
      if (deletion === 'deleted')
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
  let code: number = exitCodes.ok;
  const each = async ([key, step]: readonly [string, string | undefined]) => {
    const problem = await remove(key, step);
    if (problem === null) return;
    code = exitCodes.service;
    await output.alert(`environment ${key} was not deleted: ${output.excerpt(problem, 400)}`);
    await output.alert(`  → later, run: rungate env delete ${key}`);
  };
  await Promise.all([...environments].map(each));
  return code;
}
