import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import type { KeyOrigin, KeyStep } from '../gate/events.ts';
import type { CiContext } from './context.ts';
import type { Journal, JournalFile, JournalRun } from './journal.ts';

/**
 * The facts that identify a run: the place in the pipeline where it is started, and its body. The number of the re-run is not one
 * of them: a re-run job must find the run that it left in progress.
 */
export interface Ingredients {
  provider: string;
  repository: string | null;
  runId: string;
  job: string | null;
  step: string | null;
  matrix: string | null;
  parallelIndex: number | null;
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

function keyOf(base: string, round: number, generation: string, retry: number[]): string {
  return sha256(JSON.stringify([base, round, generation, ...retry]));
}

function withRetries(retries: number, stepOf: (retry?: number) => KeyStep): KeyStep[] {
  const steps = Array.from({ length: retries }, (_, index) => {
    const step = stepOf(index + 1);
    return { ...step, how: `${step.how}, retry ${index + 1}`, retry: index + 1 };
  });
  return [stepOf(), ...steps];
}

function randomSteps(how: string, retries: number): KeyStep[] {
  return withRetries(retries, () => ({ key: crypto.randomUUID(), how, origin: 'random' }));
}

function sharedSteps(
  base: string,
  round: number,
  { attempt, jobId }: Pick<CiContext, 'attempt' | 'jobId'>,
  retries: number,
): KeyStep[] {
  const place = round === 0 ? '' : `, run ${round + 1} of this job`;
  const stepsOf = (generation: string, how: string, origin: KeyOrigin) =>
    withRetries(retries, (retry) => {
      const key = keyOf(base, round, generation, retry === undefined ? [] : [retry]);
      return { key, how: `${how}${place}`, origin, round };
    });
  const steps = Array.from({ length: attempt ?? 1 }, (_, index) =>
    stepsOf(String(index + 1), `generation ${index + 1}`, index + 1 === attempt ? 'job' : 'earlier'),
  );
  if (attempt === null && jobId !== null)
    steps.push(stepsOf(`job ${jobId}`, `generation of job ${jobId}`, 'job'));
  return steps.flat();
}

/**
 * Returns the keys of the run that this job left in progress, if any. If it is the run of a retry, they begin with the run that
 * had failed before it. They end with the retries that are left.
 * @param job from `jobOf`, or null if that does not tell the re-runs of a job apart
 */
function openSteps(
  remembered: readonly Remembered[],
  job: string | null,
  sharedOf: (round: number) => KeyStep[],
): KeyStep[] {
  const open = remembered.findLast((run) => !run.settled);
  if (open === undefined) return [];
  const { key, round } = open;
  const origin = open.job === job ? 'journal' : 'earlier';
  const how = 'left in progress by this job';
  const shared = sharedOf(round);
  const index = shared.findIndex((step) => step.key === key);
  const current = shared[index];
  if (current === undefined) return [{ key, how, origin, round }];
  const { retry = 0 } = current;
  const later = shared.slice(index + 1);
  const others = later.findIndex((step) => step.retry === undefined);
  return [
    ...shared.slice(index - retry, index).map((step): KeyStep => ({ ...step, origin })),
    { ...current, how, origin },
    ...later.slice(0, others === -1 ? later.length : others),
  ];
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
  const sharedOf = (round: number) => sharedSteps(base, round, ci, retries);
  const job = ci.attempt === null && ci.jobId === null ? null : jobOf(ci);
  const round = remembered.reduce((next, run) => Math.max(next, run.round + 1), 0);
  return [
    ...openSteps(remembered, job, sharedOf),
    ...sharedOf(round),
    ...randomSteps('random, for when the runs of all other keys have ended', retries),
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
  open(file: JournalFile): Journal;
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
export function planKeys(request: KeyRequest): PlannedKeys {
  const { given, how, salt, ci, journalPath = '', retries = 0, open } = request;
  const file = { named: journalPath !== '', job: jobOf(ci) };
  // These keys do not need a journal, but RUNGATE_JOURNAL requests one. The base is random, so no other gate finds their runs.
  const planned = (keys: KeyStep[]): PlannedKeys => ({
    keys,
    journal: file.named ? open({ ...file, path: journalPath, base: crypto.randomUUID() }) : undefined,
  });
  if (given !== undefined && given !== 'auto') return planned(givenKeys(given, how, retries));
  const ingredients = ingredientsOf(ci, request.bodyBytes, salt, request.builds);
  if (ingredients === null)
    return planned(randomSteps('random: outside CI, each command starts a new run', retries));
  const base = baseOf(ingredients);
  const folder = ci.temporaryFolder ?? tmpdir();
  const path = file.named ? journalPath : join(folder, `rungate-${base.slice(0, 32)}.journal`);
  const journal = open({ ...file, path, base });
  return { keys: keySteps(ingredients, ci, journal.runs, retries), journal, made: { ingredients, path } };
}
