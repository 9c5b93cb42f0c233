import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import type { KeyOrigin, KeyStep } from '../gate/events.ts';
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
export type Remembered = Pick<JournalRun, 'key' | 'round' | 'settled' | 'job'>;

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

/** The keys of a run and of its retries. */
type Chain = KeyStep[];

function chainOf(retries: number, stepOf: (retry: number) => KeyStep): Chain {
  return Array.from({ length: retries + 1 }, (_, retry) => {
    const step = stepOf(retry);
    return retry === 0 ? step : { ...step, how: `${step.how}, retry ${retry}`, retry };
  });
}

export function randomKeys(how: string, retries: number): Chain {
  return chainOf(retries, () => ({ key: crypto.randomUUID(), how, origin: 'random' }));
}

/** Returns the keys that all re-runs of a job can make: a chain for each of them. */
function sharedChains(base: string, round: number, ci: CiContext, retries: number): Chain[] {
  const { attempt, jobId } = ci;
  const place = round === 0 ? '' : `, run ${round + 1} of this job`;
  const chainFor = (generation: string, how: string, origin: KeyOrigin) =>
    chainOf(retries, (retry) => {
      const parts = [base, round, generation, ...(retry === 0 ? [] : [retry])];
      return { key: sha256(JSON.stringify(parts)), how: `${how}${place}`, origin, round };
    });
  const chains = Array.from({ length: attempt ?? 1 }, (_, index) =>
    chainFor(String(index + 1), `generation ${index + 1}`, index + 1 === attempt ? 'job' : 'earlier'),
  );
  if (attempt === null && jobId !== null)
    chains.push(chainFor(`job ${jobId}`, `generation of job ${jobId}`, 'job'));
  return chains;
}

/**
 * Returns the keys of the run that this job left in progress, if any. If it is the run of a retry, they begin with the run that
 * had failed before it. They end with the retries that are left.
 */
function openKeys(
  remembered: readonly Remembered[],
  ci: CiContext,
  sharedOf: (round: number) => Chain[],
): Chain {
  const open = remembered.findLast((run) => !run.settled);
  if (open === undefined) return [];
  const { key, round } = open;
  const isNumbered = ci.attempt !== null || ci.jobId !== null;
  const origin = isNumbered && open.job === jobOf(ci) ? 'journal' : 'earlier';
  const own: KeyStep = { key, how: 'left in progress by this job', origin, round };
  const chain = sharedOf(round).find((steps) => steps.some((step) => step.key === key)) ?? [own];
  const at = chain.findIndex((step) => step.key === key);
  return chain.map((step, index) => {
    if (index > at) return step;
    return index === at ? { ...step, how: own.how, origin } : { ...step, origin };
  });
}

/**
 * Returns the keys to use, in order. A key is used only if the run of the key before it had already ended. The key of a retry is
 * used only if that run had failed, so a re-run job finds the retry that is in progress.
 *
 * If the CI counts re-runs, the N-th time uses the keys of the times 1 to N (the generations). If it only numbers jobs, the job's
 * number makes one more key. The last keys are random, because an ended run is never used again: a pass could belong to an
 * earlier deployment, and a failure would last for ever.
 */
export function keySteps(
  ingredients: Ingredients,
  ci: CiContext,
  remembered: readonly Remembered[],
  retries = 0,
): KeyStep[] {
  const base = baseOf(ingredients);
  const sharedOf = (round: number) => sharedChains(base, round, ci, retries);
  const round = Math.max(-1, ...remembered.map((run) => run.round)) + 1;
  return [
    ...openKeys(remembered, ci, sharedOf),
    ...sharedOf(round).flat(),
    ...randomKeys('random, for when the runs of all other keys have ended', retries),
  ];
}

/** @throws UsageError with retries, which need a new key for each run */
export function givenKeys(key: string, how: string, retries: number): KeyStep[] {
  if (retries === 0) return [{ key, how, origin: 'user' }];
  throw new UsageError('retries cannot use a given idempotency key, which never starts a second run', {
    hint: 'leave out the key, or set the retries to 0; a salt also distinguishes jobs',
  });
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
  /** The path in RUNGATE_JOURNAL, which the action sets for its post step. */
  journalPath: string | undefined;
}

/**
 * Returns a hash that identifies something that a start needs. It is the same in all re-runs of the job, whatever their keys are:
 * made from the user's key, or from the CI's facts; otherwise random.
 */
export function placeOf({ given, salt, builds, ci }: Pick<KeyRequest, 'given' | 'salt' | 'builds' | 'ci'>) {
  return (text: string): string => {
    if (given !== undefined && given !== 'auto') return sha256(JSON.stringify([given, text]));
    const ingredients = ingredientsOf(ci, text, salt, builds);
    return ingredients === null ? sha256(crypto.randomUUID()) : baseOf(ingredients);
  };
}

export interface PlannedKeys {
  keys: readonly KeyStep[];
  journal?: Journal | undefined;
  /** The ingredients of the keys and the path of the journal; set only for keys made from a CI system's facts. */
  made?: { ingredients: Ingredients; path: string };
}

/**
 * Returns the idempotency keys of a start: the user's key; in CI, the keys that a job and its re-runs share; otherwise a
 * random key, the same in all retries of the request.
 */
export function planKeys(request: KeyRequest, tools: JournalTools): PlannedKeys {
  const { given, how, salt, ci, journalPath = '', retries = 0 } = request;
  const file = { named: journalPath !== '', job: jobOf(ci) };
  // These keys do not need a journal, but RUNGATE_JOURNAL requests one. The base is random, so no other gate finds their runs.
  const planned = (keys: KeyStep[]): PlannedKeys => {
    const own = { ...file, path: journalPath, base: crypto.randomUUID() };
    return { keys, journal: file.named ? openJournal(own, tools) : undefined };
  };
  if (given !== undefined && given !== 'auto') return planned(givenKeys(given, how, retries));
  const ingredients = ingredientsOf(ci, request.bodyBytes, salt, request.builds);
  if (ingredients === null) {
    const why = ci.provider === null ? 'outside CI' : 'without the id of a pipeline';
    return planned(randomKeys(`random: ${why}, each command starts a new run`, retries));
  }
  const base = baseOf(ingredients);
  const folder = ci.temporaryFolder ?? tmpdir();
  const path = file.named ? journalPath : join(folder, `rungate-${base.slice(0, 32)}.journal`);
  const journal = openJournal({ ...file, path, base }, tools);
  return { keys: keySteps(ingredients, ci, journal.runs, retries), journal, made: { ingredients, path } };
}
