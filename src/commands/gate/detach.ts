import { createHash } from 'node:crypto';
import type { CiContext } from '../../ci/context.ts';
import { type DetachableJob, detachableJob } from '../../ci/detachable.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { contextOf } from '../../gate/detached/steps.ts';
import { type StartingGate, unnamed } from '../../gate/plan/plan.ts';
import { subjectOf } from '../../gate/watched-run.ts';
import type { Settings } from '../../settings/names.ts';
import { eventPayload } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { DetachedJob } from './detached-job.ts';
import { type Detached, failEarly, openDetached } from './detached-tools.ts';
import { newEntry } from './entry.ts';
import type { Keeping } from './keeping.ts';
import type { ResumedGate } from './store.ts';

/** Returns the job that a gate can be detached from. @throws UsageError or ConfigError */
function jobOf(context: Context, ci: CiContext, planned: readonly StartingGate<Settings>[]): DetachableJob {
  const { io, flags, settings } = context;
  const tests = [
    flags.insecureHttp && '--insecure-http',
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
  const kind = kindOf(context, ci, planned);
  const first = { ...jobOf(context, ci, planned), kind };
  const { repository, commit } = first;
  const id = `${kind}${crypto.randomUUID().slice(0, kind.length)}`;
  const gates = planned.map(({ name, start }) => (name === unnamed ? subjectOf(start.body).name : name));
  const names = { id, repository, commit, context: contextOf(gates.map(String)) };
  const gate = { ...newEntry(context, ci, planned), id };
  let detached: Detached | undefined;
  try {
    detached = await openDetached(io, flags, settings);
    await checkRules(context, detached, first, names.context);
  } catch (error) {
    await detached?.close();
    // A branch that does not require the status waits for none.
    if (!(error instanceof UsageError)) await failEarly(io, settings, names);
    throw error;
  }
  return new DetachedJob(context, detached, names, gate, { first });
}

/** Returns a text that is the same in a re-run of the job and for another commit, and differs from that of other gates. */
function kindOf({ io, flags }: Context, ci: CiContext, planned: readonly StartingGate[]): string {
  const tests = planned.map(({ name, start: { body } }) => {
    const { projectSlug, processSlug, tags, environmentKey } = body;
    return [name, projectSlug, processSlug, tags, environmentKey];
  });
  const { job, step, matrix, parallelIndex } = ci;
  const where = [io.env.GITHUB_WORKFLOW, job, step, matrix, parallelIndex, flags.idempotencySalt];
  const hash = createHash('sha256')
    .update(JSON.stringify([tests, where]))
    .digest('hex');
  return hash.slice(0, 8);
}
