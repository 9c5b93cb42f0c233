import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CiContext } from '../ci/context.ts';
import { baseOf, explainIngredients, ingredientsOf, keySteps, randomStep } from '../ci/idempotency.ts';
import { type Journal, openJournal } from '../ci/journal.ts';
import type { TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';
import type { KeyStep, RunJournal } from '../gate/start.ts';
import { excerpt } from '../sanitize.ts';
import type { Context } from './context.ts';
import { filled } from './globals.ts';

export interface KeyFlags {
  idempotencyKey?: string;
  idempotencySalt?: string;
  explainKey?: boolean;
}

export interface PlannedKeys {
  keys: readonly KeyStep[];
  journal?: RunJournal;
}

async function explain(context: Context, flags: KeyFlags, lines: readonly string[]): Promise<void> {
  if (flags.explainKey !== true) return;
  for (const line of lines) await context.output.alert(excerpt(line, 300));
}

function open(context: Context, path: string): Journal {
  const now = new Date(context.io.clock.now());
  return openJournal(path, now, (problem) => void context.output.alert(excerpt(problem, 400)));
}

/** Keys that need no journal; it is kept all the same where somebody has asked for it, as the action's post step does. */
function planned(context: Context, keys: readonly KeyStep[]): PlannedKeys {
  const path = context.io.env.RUNGATE_JOURNAL;
  return path === undefined || path === '' ? { keys } : { keys, journal: open(context, path) };
}

/**
 * The idempotency keys of a command: the one that was given; in a CI those that all attempts of a job have in common;
 * else a random one, which this command's own tries share.
 */
export async function planKeys(
  context: Context,
  flags: KeyFlags,
  body: TriggerBody,
  ci: CiContext,
): Promise<PlannedKeys> {
  const given = filled('--idempotency-key', flags.idempotencyKey);
  const salt = filled('--idempotency-salt', flags.idempotencySalt) ?? null;
  if (given !== undefined && given !== 'auto') {
    if (salt !== null) {
      throw new UsageError('--idempotency-key and --idempotency-salt exclude each other', {
        hint: 'a salt goes into the key that is made for you',
      });
    }
    const how = 'given with --idempotency-key';
    await explain(context, flags, [`idempotency key ${given} (${how})`]);
    return planned(context, [{ key: given, how, lookBack: false, own: false, given: true }]);
  }
  const ingredients = ingredientsOf(ci, JSON.stringify(body), salt);
  if (ingredients === null) {
    const step = randomStep('random: outside a CI each command starts a run of its own');
    await explain(context, flags, [`idempotency key ${step.key} (${step.how})`]);
    return planned(context, [step]);
  }
  const base = baseOf(ingredients);
  const usual = join(ci.temporaryFolder ?? tmpdir(), `rungate-${base.slice(0, 32)}.journal`);
  const path = context.io.env.RUNGATE_JOURNAL ?? usual;
  const journal = open(context, path);
  const keys = keySteps(ingredients, ci, journal.runs);
  await explain(context, flags, [
    `idempotency keys of ${ci.provider}, attempt ${ci.attempt ?? '(not counted)'}:`,
    ...keys.slice(0, 5).map((step) => `  ${step.key} (${step.how})`),
    'made of:',
    ...explainIngredients(ingredients).map((line) => `  ${line}`),
    `journal: ${path}`,
  ]);
  return { keys, journal };
}
