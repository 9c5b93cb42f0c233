import type { CiContext } from '../../ci/context.ts';
import { explainIngredients, type PlannedKeys, planKeys } from '../../ci/idempotency.ts';
import { type Journal, openJournal } from '../../ci/journal.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { UsageError } from '../../errors.ts';
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';

export interface KeyFlags {
  idempotencyKey?: string;
  idempotencySalt?: string;
  explainKey?: boolean;
}

async function explain(context: Context, flags: KeyFlags, lines: readonly string[]): Promise<void> {
  if (flags.explainKey !== true) return;
  for (const line of lines) await context.output.alert(context.output.excerpt(line, 300));
}

function open(context: Context, path: string): Journal {
  const now = new Date(context.io.clock.now());
  const { alert, conceal, excerpt } = context.output;
  return openJournal(path, now, (problem) => void alert(excerpt(problem, 400)), conceal);
}

/** The keys of `run trigger`, explained where that is asked for. */
export async function commandKeys(
  context: Context,
  flags: KeyFlags,
  body: TriggerBody,
  ci: CiContext,
): Promise<PlannedKeys> {
  const given = filled('--idempotency-key', flags.idempotencyKey);
  const salt = filled('--idempotency-salt', flags.idempotencySalt) ?? null;
  if (given !== undefined && given !== 'auto' && salt !== null) {
    throw new UsageError('--idempotency-key and --idempotency-salt exclude each other', {
      hint: 'a salt goes into the key that is made for you',
    });
  }
  const plan = planKeys({
    given,
    how: 'given with --idempotency-key',
    salt,
    bodyBytes: JSON.stringify(body),
    ci,
    journalPath: context.io.env.RUNGATE_JOURNAL,
    open: (path) => open(context, path),
  });
  const { keys, made } = plan;
  if (made === undefined) {
    await explain(
      context,
      flags,
      keys.map(({ key, how }) => `idempotency key ${key} (${how})`),
    );
    return plan;
  }
  await explain(context, flags, [
    `idempotency keys of ${ci.provider}, attempt ${ci.attempt ?? '(not counted)'}:`,
    ...keys.slice(0, 5).map((step) => `  ${step.key} (${step.how})`),
    'made of:',
    ...explainIngredients(made.ingredients).map((line) => `  ${line}`),
    `journal: ${made.path}`,
  ]);
  return plan;
}
