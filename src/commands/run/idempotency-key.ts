import type { CiContext } from '../../ci/context.ts';
import type { PlannedKeys } from '../../ci/idempotency.ts';
import { openJournal } from '../../ci/journal.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { UsageError } from '../../errors.ts';
import type { Flags } from '../../options/table.ts';
import type { Context } from '../context.ts';

/** Returns the keys of `run trigger`, and explains them if `--explain-key` is given. */
export async function commandKeys(
  context: Context,
  flags: Pick<Flags, 'idempotencyKey' | 'idempotencySalt' | 'explainKey'> & { retries: number | undefined },
  body: TriggerBody,
  ci: CiContext,
): Promise<PlannedKeys> {
  const given = flags.idempotencyKey;
  const salt = flags.idempotencySalt ?? null;
  if (given !== undefined && given !== 'auto' && salt !== null) {
    throw new UsageError('--idempotency-key and --idempotency-salt cannot be combined', {
      hint: 'leave one of them out: the salt only changes the automatic key',
    });
  }
  const { io, output } = context;
  // Loaded here, because `run wait` has no key and would pay for `node:crypto`.
  const { planKeys } = await import('../../ci/idempotency.ts');
  const plan = planKeys({
    given,
    how: 'given with --idempotency-key',
    salt,
    retries: flags.retries,
    bodyBytes: JSON.stringify(body),
    ci,
    journalPath: io.env.RUNGATE_JOURNAL,
    open(file) {
      const alert = (problem: string) => void output.alert(output.excerpt(problem, 400));
      return openJournal(file, new Date(io.clock.now()), alert, output.redact);
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
    ...Object.entries(made.ingredients).map(([name, value]) => `  ${name}: ${value ?? '(unknown)'}`),
    `journal: ${made.path}`,
  ];
}
