import { createHash, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyStep } from '../gate/start.ts';
import type { CiContext } from './context.ts';
import type { Journal, JournalRun } from './journal.ts';

/**
 * The facts that identify a run: the place in the pipeline where it is started, and its body. The attempt is not one of
 * them: a retried job must find the run of its previous attempt.
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
  /** SHA-256 of the frozen body, in hex. */
  body: string;
}

/** The journal's facts about a run that this job started earlier from the same place with the same body. */
export type Remembered = Pick<JournalRun, 'key' | 'round' | 'settled'>;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the ingredients from the CI, or null if the CI does not identify the pipeline. */
export function ingredientsOf(ci: CiContext, bodyBytes: string, salt: string | null): Ingredients | null {
  const { provider, repository, runId, job, step, matrix, parallelIndex } = ci;
  if (provider === null || runId === null) return null;
  return { provider, repository, runId, job, step, matrix, parallelIndex, salt, body: sha256(bodyBytes) };
}

/** Returns a hash that identifies a place and a body; it names the journal of the job. */
export function baseOf(ingredients: Ingredients): string {
  // A list of pairs: different ingredients never have the same text.
  return sha256(JSON.stringify(Object.entries(ingredients).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

function keyOf(base: string, round: number, generation: string): string {
  return sha256(JSON.stringify([base, round, generation]));
}

/** Returns a key that has never been used. */
function randomStep(how: string): KeyStep {
  return { key: randomUUID(), how, origin: 'random' };
}

/**
 * Returns the keys to use, in order. A key is used only if the run of the key before it had already ended.
 *
 * If the CI counts attempts, attempt N uses the keys of attempts 1 to N (the generations). If it only numbers jobs, the job's
 * number makes one more key. The last key is random, because an ended run is never used again: a pass could belong to an
 * earlier deployment, and a failure would last for ever.
 */
export function keySteps(
  ingredients: Ingredients,
  { attempt, jobId }: Pick<CiContext, 'attempt' | 'jobId'>,
  remembered: readonly Remembered[],
): KeyStep[] {
  const base = baseOf(ingredients);
  const open = remembered.filter((run) => !run.settled).slice(-1);
  const round = remembered.reduce((next, run) => Math.max(next, run.round + 1), 0);
  const place = round === 0 ? '' : `, run ${round + 1} of this job`;
  const steps: KeyStep[] = open.map(({ key }) => ({
    key,
    how: 'left in progress by this job',
    origin: 'earlier',
  }));
  const generations = attempt ?? 1;
  for (let g = 1; g <= generations; g += 1) {
    const origin = g === attempt ? 'attempt' : 'earlier';
    steps.push({ key: keyOf(base, round, String(g)), how: `generation ${g}${place}`, origin });
  }
  if (attempt === null && jobId !== null) {
    const how = `generation of job ${jobId}${place}`;
    steps.push({ key: keyOf(base, round, `job ${jobId}`), how, origin: 'attempt' });
  }
  steps.push(randomStep('random, for when the runs of all other keys have ended'));
  return steps;
}

export interface KeyRequest {
  /** The user's key, used unchanged; `auto` or undefined for automatic keys. */
  given: string | undefined;
  /** A text for people about the origin of the user's key. */
  how: string;
  /** The user's salt, for places that the CI does not distinguish. */
  salt: string | null;
  /** The frozen body. */
  bodyBytes: string;
  ci: CiContext;
  /** The path in RUNGATE_JOURNAL, which the action sets for its post step. */
  journalPath: string | undefined;
  /** Opens the journal at this path. */
  open(path: string): Journal;
}

export interface PlannedKeys {
  keys: readonly KeyStep[];
  journal?: Journal | undefined;
  /** The ingredients of the keys and the path of the journal; set only for keys made from a CI's facts. */
  made?: { ingredients: Ingredients; path: string };
}

/**
 * Returns the idempotency keys of a start: the user's key; in a CI, the keys that all attempts of a job share; otherwise a
 * random key for all attempts of the create request.
 */
export function planKeys(request: KeyRequest): PlannedKeys {
  const { given, how, salt, ci, journalPath = '', open } = request;
  // These keys do not need a journal, but RUNGATE_JOURNAL requests one.
  const planned = (step: KeyStep): PlannedKeys => ({
    keys: [step],
    journal: journalPath === '' ? undefined : open(journalPath),
  });
  if (given !== undefined && given !== 'auto') return planned({ key: given, how, origin: 'user' });
  const ingredients = ingredientsOf(ci, request.bodyBytes, salt);
  if (ingredients === null) return planned(randomStep('random: outside a CI, each command starts a new run'));
  const defaultPath = join(
    ci.temporaryFolder ?? tmpdir(),
    `rungate-${baseOf(ingredients).slice(0, 32)}.journal`,
  );
  const path = journalPath === '' ? defaultPath : journalPath;
  const journal = open(path);
  return { keys: keySteps(ingredients, ci, journal.runs), journal, made: { ingredients, path } };
}

/** Returns the ingredients as lines for people. */
export function explainIngredients(ingredients: Ingredients): string[] {
  return Object.entries(ingredients).map(([name, value]) => `${name}: ${value ?? '(unknown)'}`);
}
