import type { CiContext } from '../../ci/context.ts';
import { explainIngredients, type PlannedKeys, planKeys } from '../../ci/idempotency.ts';
import { openJournal } from '../../ci/journal.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { UsageError } from '../../errors.ts';
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';

export interface KeyFlags {
  idempotencyKey?: string;
  idempotencySalt?: string;
  explainKey?: boolean;
}

/**
 * Returns the keys of `run trigger`, and explains them if `--explain-key` is given.
 * @param gate the name of the gate, if the job has several, which may share a journal
 */
export async function commandKeys(
  context: Context,
  flags: KeyFlags & { retries: number | undefined },
  body: TriggerBody,
  ci: CiContext,
  gate?: string,
): Promise<PlannedKeys> {
  const given = filled('--idempotency-key', flags.idempotencyKey);
  const salt = filled('--idempotency-salt', flags.idempotencySalt) ?? null;
  if (given !== undefined && given !== 'auto' && salt !== null) {
    throw new UsageError('--idempotency-key and --idempotency-salt cannot be combined', {
      hint: 'leave one of them out: the salt only changes the automatic key',
    });
  }
  const { io, output } = context;
  const plan = planKeys({
    given,
    how: 'given with --idempotency-key',
    salt,
    retries: flags.retries,
    bodyBytes: JSON.stringify(body),
    ci,
    journalPath: io.env.RUNGATE_JOURNAL,
    open(path) {
      const alert = (problem: string) => void output.alert(output.excerpt(problem, 400));
      return openJournal(path, new Date(io.clock.now()), alert, output.redact, gate);
    },
  });
  if (flags.explainKey === true)
    for (const line of explanation(plan, ci)) await output.alert(output.excerpt(line, 300));
  return plan;
}

function explanation({ keys, made }: PlannedKeys, ci: CiContext): string[] {
  if (made === undefined) return keys.map(({ key, how }) => `idempotency key ${key} (${how})`);
  return [
    `idempotency keys of ${ci.provider}, attempt ${ci.attempt ?? '(not counted)'}:`,
    ...keys.slice(0, 5).map(({ key, how }) => `  ${key} (${how})`),
    'made from:',
    ...explainIngredients(made.ingredients).map((line) => `  ${line}`),
    `journal: ${made.path}`,
  ];
}
