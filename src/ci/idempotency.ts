import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { chainOf, linkAfter } from '../gate/chain.ts';
import type { KeyChain, KeyStep } from '../gate/events.ts';
import type { CiContext } from './context.ts';
import { type Journal, type JournalRun, type JournalTools, openJournal } from './journal.ts';

/**
 * The facts that identify a run: the place in the pipeline where it is started, and its body. The number of the re-run is not one
 * of them: a re-run job must find the run that it left in progress.
 */
export interface Ingredients
  extends Pick<CiContext, 'repository' | 'job' | 'step' | 'matrix' | 'parallelIndex'> {
  provider: string;
  runId: string;
  /** The user's `--idempotency-salt`, for places that the CI does not distinguish. */
  salt: string | null;
  /** The build that the gate expects or names in its receipt, if it does: a run of another one is not its run. */
  build?: string;
  /** SHA-256 of the frozen body, in hex. */
  body: string;
}

/** The journal's facts about a run that this job started earlier from the same place with the same body. */
export type Remembered = Pick<JournalRun, 'key' | 'past' | 'runId' | 'settled' | 'job'>;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the ingredients from the CI, or null if the CI does not identify the pipeline. */
export function ingredientsOf(
  ci: CiContext,
  bodyBytes: string,
  salt: string | null,
  builds: readonly string[] = [],
): Ingredients | null {
  const { provider, repository, runId, job, step, matrix, parallelIndex } = ci;
  if (provider === null || runId === null) return null;
  const build = builds.toSorted().join(', ');
  return {
    provider,
    repository,
    runId,
    job,
    step,
    matrix,
    parallelIndex,
    salt,
    ...(build !== '' && { build }),
    body: sha256(bodyBytes),
  };
}

/**
 * Returns a hash that identifies the re-run of a job. It is the same for all of them if the CI neither counts re-runs nor
 * numbers jobs.
 */
export function jobOf({ provider, runId, job, attempt, jobId }: CiContext): string {
  return sha256(JSON.stringify([provider, runId, job, attempt, jobId]));
}

/** Returns a hash that identifies a place and a body; it names the journal of the job. */
export function baseOf(ingredients: Ingredients): string {
  // A list of pairs: different ingredients never have the same text.
  return sha256(JSON.stringify(Object.entries(ingredients).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

export const randomKey = (): KeyChain => chainOf({ key: crypto.randomUUID(), trust: 'random' }, 1);

/**
 * Returns the first key of a gate in CI. It is that of the run which the job left in progress, with the runs before it;
 * or the one after the last run of the job; or else a hash of the place and the body, without the number of the re-run: a re-run
 * job finds every run that it has started.
 */
export function firstKey(
  ingredients: Ingredients,
  ci: CiContext,
  remembered: readonly Remembered[],
): KeyStep {
  const { attempt, jobId } = ci;
  const open = remembered.findLast((run) => !run.settled);
  if (open !== undefined) {
    const isNumbered = attempt !== null || jobId !== null;
    const trust = isNumbered && open.job === jobOf(ci) ? 'job' : 'shared';
    return { key: open.key, trust, open: true, past: open.past };
  }
  const last = remembered.at(-1);
  const key = last === undefined ? baseOf(ingredients) : linkAfter(last.key, last.runId ?? '');
  return { key, trust: attempt === 1 ? 'job' : 'shared' };
}

/** @throws UsageError with retries, which need a new key for each run */
export function givenKey(key: string, retries: number): KeyChain {
  if (retries === 0) return chainOf({ key, trust: 'given' }, 1);
  throw new UsageError(
    'retries cannot be combined with a given idempotency key, which never starts a second run',
    {
      hint: 'leave out the key, or set retries to 0; to distinguish jobs, use a salt',
    },
  );
}

export interface KeyRequest {
  /** The user's key, used unchanged; `auto` or undefined for automatic keys. */
  given: string | undefined;
  /** A text for people about the origin of the user's key. */
  how: string;
  /** The user's salt, for places that the CI does not distinguish. */
  salt: string | null;
  /** The number of retries; default 0. */
  retries?: number | undefined;
  bodyBytes: string;
  /** The expected version and the subjects. */
  builds: readonly string[];
  ci: CiContext;
  /** The journal that the action's post step reads; undefined for one of the job and the place. */
  journalPath?: string | undefined;
}

/**
 * Returns a hash that identifies something that a start needs. It is the same in all re-runs of the job, whatever their keys are:
 * made from the user's key, or from the CI's facts; otherwise random.
 */
export function jobHashOf({ given, salt, builds, ci }: Pick<KeyRequest, 'given' | 'salt' | 'builds' | 'ci'>) {
  return (text: string): string => {
    if (given !== undefined && given !== 'auto') return sha256(JSON.stringify([given, text]));
    const ingredients = ingredientsOf(ci, text, salt, builds);
    return ingredients === null ? sha256(crypto.randomUUID()) : baseOf(ingredients);
  };
}

export interface PlannedKeys {
  chain: KeyChain;
  /** A text for people about the origin of the first key. */
  how: string;
  journal?: Journal | undefined;
  /** The ingredients of the keys and the path of the journal; set only for keys made from a CI system's facts. */
  made?: { ingredients: Ingredients; path: string };
}

const howOf: Readonly<Record<'open' | 'job' | 'shared', string>> = {
  open: 'of the run that this job left in progress',
  job: 'made from the job',
  shared: 'made from the job, which may have used it before its re-run',
};

/**
 * Returns the idempotency keys of a start: the user's key; in CI, the keys that a job and its re-runs share; otherwise a
 * random key, the same in all retries of the request.
 */
export function planKeys(request: KeyRequest, tools: JournalTools): PlannedKeys {
  const { given, how, salt, ci, journalPath, retries = 0 } = request;
  const job = jobOf(ci);
  // These keys do not need a journal, but the post step does. The base is random, so no other gate finds their runs.
  const planned = (chain: KeyChain, how: string): PlannedKeys => {
    if (journalPath === undefined) return { chain, how };
    return { chain, how, journal: openJournal({ path: journalPath, job, base: crypto.randomUUID() }, tools) };
  };
  if (given !== undefined && given !== 'auto') return planned(givenKey(given, retries), how);
  const ingredients = ingredientsOf(ci, request.bodyBytes, salt, request.builds);
  if (ingredients === null) {
    const why = ci.provider === null ? 'outside CI' : 'without a pipeline id';
    return planned(randomKey(), `random: ${why}, each command starts a new run`);
  }
  const base = baseOf(ingredients);
  const folder = ci.temporaryFolder ?? tmpdir();
  const path = journalPath ?? join(folder, `rungate-${base.slice(0, 32)}.journal`);
  const journal = openJournal({ path, job, base }, tools);
  const link = firstKey(ingredients, ci, journal.runs);
  return {
    chain: chainOf(link, ci.attempt),
    how: howOf[link.open === true ? 'open' : link.trust === 'job' ? 'job' : 'shared'],
    journal,
    made: { ingredients, path },
  };
}
