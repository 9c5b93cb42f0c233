import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyStep } from '../gate/start.ts';
import type { CiContext } from './context.ts';
import { baseOf, type Ingredients, ingredientsOf, keySteps, randomStep } from './idempotency.ts';
import type { Journal } from './journal.ts';

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
  /** Keys that need no journal; it is kept all the same where somebody has asked for it. */
  const planned = (step: KeyStep): PlannedKeys => ({
    keys: [step],
    journal: journalPath === '' ? undefined : open(journalPath),
  });
  if (given !== undefined && given !== 'auto') {
    return planned({ key: given, how, origin: 'user' });
  }
  const ingredients = ingredientsOf(ci, request.bodyBytes, salt);
  if (ingredients === null)
    return planned(randomStep('random: outside a CI each command starts a run of its own'));
  const usual = join(ci.temporaryFolder ?? tmpdir(), `rungate-${baseOf(ingredients).slice(0, 32)}.journal`);
  const path = journalPath === '' ? usual : journalPath;
  const journal = open(path);
  return { keys: keySteps(ingredients, ci, journal.runs), journal, made: { ingredients, path } };
}
