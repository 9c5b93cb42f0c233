import type { CiContext } from '../../ci/context.ts';
import { type DetachableJob, detachableJob } from '../../ci/detachable.ts';
import { detectCi } from '../../ci/provider.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { contextOf } from '../../gate/detached/steps.ts';
import { type StartingGate, unnamed } from '../../gate/plan/plan.ts';
import { subjectOf } from '../../gate/watched-run.ts';
import type { Io } from '../../host/io.ts';
import type { Settings } from '../../settings/names.ts';
import { eventPayload } from '../ci-context.ts';
import { loadSettings } from '../config/sources.ts';
import type { Context } from '../context.ts';
import { DetachedJob } from './detached-job.ts';
import { type Detached, jobIn, openDetached } from './detached-tools.ts';
import { newEntry } from './entry.ts';
import type { Keeping } from './keeping.ts';
import type { ResumedGate } from './store.ts';

/** Returns the gate that the hub keeps. From here on no other job goes on with it. @throws RungateError */
export async function fetchGate(io: Io, id: string): Promise<ResumedGate> {
  const { settings } = await loadSettings(io, {}, {});
  const detached = await openDetached(io, {}, settings);
  try {
    const { sealed: text, ...names } = await detached.hub.fetch({ id, job: jobIn(io) });
    const { repository } = detectCi(io.env);
    if (names.id !== id || repository?.toLowerCase() !== String(names.repository).toLowerCase())
      throw new ConfigError(`--resume: gate ${id} is not one of ${repository ?? 'this repository'}`, {
        hint: 'run it in the workflow of the repository whose gate it is',
      });
    const gate = detached.unsealed(text, names);
    if (gate === null)
      throw new ConfigError(`--resume: the state of gate ${id} was made with another API key, or changed`, {
        hint: 'give this workflow the API key of the job that started the gate, or re-run that job',
      });
    return gate;
  } finally {
    await detached.close();
  }
}

/** Returns the job that a gate can be detached from. @throws UsageError or ConfigError */
function jobOf(context: Context, ci: CiContext, planned: readonly StartingGate<Settings>[]): DetachableJob {
  const { io, settings } = context;
  const tests = [
    settings['deployed.url'] && 'a version page (--deployed-url)',
    planned.some(({ start }) => start.preview !== undefined) && 'a preview deployment (--base-url)',
  ].find(Boolean);
  if (tests)
    throw new UsageError(`--detach and ${tests} cannot be combined`, {
      hint: 'leave out --detach: this gate needs a job until its end',
    });
  const job = detachableJob(ci.provider, io.env, eventPayload(io) ?? '');
  if (job !== null) return job;
  throw new ConfigError('--detach needs a job of a pull request or a merge queue on GitHub', {
    hint: 'leave out --detach here: the verdict of any other job is its exit code',
  });
}

/** Checks that the status decides: a branch that does not require it could be merged before the verdict. @throws UsageError */
async function checkRules({ output }: Context, { github }: Detached, job: DetachableJob, context: string) {
  const requires = await github.requires(job.repository, job.branch, context);
  const shown = `the commit status "${output.excerpt(context, 255)}"`;
  const branch = output.excerpt(job.branch, 200);
  if (requires === null)
    await output.warn(
      `the rules of ${branch} cannot be read, so they may not require ${shown}`,
      'check that they do: otherwise pull requests can be merged without a verdict',
    );
  if (requires === false)
    throw new UsageError(`${branch} does not require ${shown}, so nothing would wait for the verdict`, {
      hint: `add it under Settings → Rules → Rulesets → Require status checks to pass, or leave out --detach`,
    });
}

/**
 * Returns a gate whose state the hub keeps: a new one, or the one that this job goes on with.
 * @throws RungateError before anything is sent to the service
 */
export async function keepAtHub(
  context: Context,
  ci: CiContext,
  planned: readonly StartingGate<Settings>[],
  resumed: ResumedGate | undefined,
): Promise<Keeping> {
  const { io, flags, settings } = context;
  if (resumed?.detached !== undefined) {
    const detached = await openDetached(io, flags, settings);
    const { gate, waitMs } = resumed;
    return new DetachedJob(context, detached, resumed.detached, gate, { first: null, waitMs });
  }
  const first = jobOf(context, ci, planned);
  const { repository, commit } = first;
  const id = crypto.randomUUID().replaceAll('-', '').slice(0, 16);
  const gates = planned.map(({ name, start }) => (name === unnamed ? subjectOf(start.body).name : name));
  const names = { id, repository, commit, context: contextOf(gates.map(String)) };
  const gate = { ...newEntry(context, ci, planned), id };
  const detached = await openDetached(io, flags, settings);
  try {
    await checkRules(context, detached, first, names.context);
  } catch (error) {
    await detached.close();
    throw error;
  }
  return new DetachedJob(context, detached, names, gate, { first });
}
