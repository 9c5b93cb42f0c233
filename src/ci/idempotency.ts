import { createHash, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyStep } from '../gate/start.ts';
import type { CiContext } from './context.ts';
import type { Journal, JournalRun } from './journal.ts';

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

/** What the journal has of the runs that this job started from one place with one body. */
export type Remembered = Pick<JournalRun, 'key' | 'round' | 'settled'>;

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
function randomStep(how: string): KeyStep {
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
  const steps: KeyStep[] = open.map(({ key }) => ({ key, how: 'left open by this job', origin: 'earlier' }));
  const generations = attempt ?? 1;
  for (let g = 1; g <= generations; g += 1) {
    const origin = g === attempt ? 'attempt' : 'earlier';
    steps.push({ key: keyOf(base, round, String(g)), how: `generation ${g}${place}`, origin });
  }
  if (attempt === null && jobId !== null) {
    const how = `the generation of job ${jobId}${place}`;
    steps.push({ key: keyOf(base, round, `job ${jobId}`), how, origin: 'attempt' });
  }
  steps.push(randomStep('random: every run found before it had ended'));
  return steps;
}

export interface KeyRequest {
  /** The user's own key, which is used as it is; `auto`, as nothing, has one made. */
  given: string | undefined;
  /** How that came, for people. */
  how: string;
  /** The user's own ingredient, where the CI does not tell two places apart. */
  salt: string | null;
  /** The frozen body. */
  bodyBytes: string;
  ci: CiContext;
  /** Where somebody wants the journal to be (RUNGATE_JOURNAL): the action's post step reads it. */
  journalPath: string | undefined;
  /** Opens the journal at this path. */
  open(path: string): Journal;
}

export interface PlannedKeys {
  keys: readonly KeyStep[];
  journal?: Journal | undefined;
  /** What the keys were made of, and where the journal is; only where they were made of what a CI says. */
  made?: { ingredients: Ingredients; path: string };
}

/**
 * The idempotency keys of a start: the one that was given; in a CI those that all attempts of a job have in common; else a
 * random one, which the start's own tries share.
 */
export function planKeys(request: KeyRequest): PlannedKeys {
  const { given, how, salt, ci, journalPath = '', open } = request;
  // These keys do not need the journal, but RUNGATE_JOURNAL asks for it.
  const planned = (step: KeyStep): PlannedKeys => ({
    keys: [step],
    journal: journalPath === '' ? undefined : open(journalPath),
  });
  if (given !== undefined && given !== 'auto') return planned({ key: given, how, origin: 'user' });
  const ingredients = ingredientsOf(ci, request.bodyBytes, salt);
  if (ingredients === null)
    return planned(randomStep('random: outside a CI each command starts a run of its own'));
  const usual = join(ci.temporaryFolder ?? tmpdir(), `rungate-${baseOf(ingredients).slice(0, 32)}.journal`);
  const path = journalPath === '' ? usual : journalPath;
  const journal = open(path);
  return { keys: keySteps(ingredients, ci, journal.runs), journal, made: { ingredients, path } };
}

/** The ingredients as lines for a person. */
export function explainIngredients(ingredients: Ingredients): string[] {
  return Object.entries(ingredients).map(([name, value]) => `${name}: ${value ?? '(not known)'}`);
}
