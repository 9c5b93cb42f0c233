import { createHash, randomUUID } from 'node:crypto';
import type { KeyStep } from '../gate/start.ts';
import type { CiContext } from './context.ts';

/**
 * What makes a run the same run: where in which pipeline it is started, and with what body. Never the attempt: a
 * retried job shall find the run that it left behind.
 */
export interface Ingredients {
  provider: string;
  repository: string | null;
  runId: string;
  job: string | null;
  step: string | null;
  matrix: string | null;
  parallelIndex: number | null;
  /** The user's own, where the CI does not tell two places apart: `--idempotency-salt`. */
  salt: string | null;
  /** SHA-256 of the frozen body, in hex. */
  body: string;
}

/** What is remembered of the runs that this job has started from one place with one body. */
export interface Remembered {
  key: string;
  /** How many runs were settled when this one was started; 0 for the first. */
  round: number;
  /** This job is done with it: it has seen its end, or wanted no more than to start it. */
  settled: boolean;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The ingredients that a CI gives, or null where it does not say which pipeline this is. */
export function ingredientsOf(ci: CiContext, bodyBytes: string, salt: string | null): Ingredients | null {
  const { provider, repository, runId, job, step, matrix, parallelIndex } = ci;
  if (provider === null || runId === null) return null;
  return { provider, repository, runId, job, step, matrix, parallelIndex, salt, body: sha256(bodyBytes) };
}

/** One name for a place and a body: the journal of a job keeps what it has started under it. */
export function baseOf(ingredients: Ingredients): string {
  // As a list of pairs: no two sets of ingredients have one text.
  return sha256(JSON.stringify(Object.entries(ingredients).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

function keyOf(base: string, round: number, generation: string): string {
  return sha256(JSON.stringify([base, round, generation]));
}

/** A key that nobody can have used. */
export function randomStep(how: string): KeyStep {
  return { key: randomUUID(), how, origin: 'random' };
}

/**
 * The keys to try, in order: each next one only when the run that the last one gave has ended before we came.
 *
 * An attempt that is counted looks at what every attempt before it has left (generations 1 to N). A job that is only
 * numbered has one generation of its own number. Whatever is left after that is random: a run that has ended is never
 * used again, since a green would be of an earlier deployment and a red would stay red for ever.
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
    how: 'left open by this job',
    origin: 'earlier',
  }));

  const generations = attempt ?? 1;
  for (let g = 1; g <= generations; g += 1) {
    const how = `generation ${g}${place}`;
    steps.push({
      key: keyOf(base, round, String(g)),
      how,
      origin: g === attempt ? 'attempt' : 'earlier',
    });
  }
  if (attempt === null && jobId !== null) {
    const how = `the generation of job ${jobId}${place}`;
    steps.push({ key: keyOf(base, round, `job ${jobId}`), how, origin: 'attempt' });
  }
  steps.push(randomStep('random: every run found before it had ended'));
  return steps;
}

/** The ingredients as lines for a person. */
export function explainIngredients(ingredients: Ingredients): string[] {
  return Object.entries(ingredients).map(([name, value]) => `${name}: ${value ?? '(not known)'}`);
}
