import { UsageError } from '../../errors.ts';
import type { Context } from '../context.ts';

/** Asks before something is removed; where nobody can be asked, `--yes` must have been given. */
export async function confirm(context: Context, what: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  const answer = await context.io.ask(`${context.output.excerpt(what)}? This cannot be undone. [y/N] `);
  if (answer === null) {
    throw new UsageError(
      `${context.output.excerpt(what)}: this cannot be undone, and there is nobody to ask`,
      {
        hint: 'add --yes',
      },
    );
  }
  return /^y(es)?$/i.test(answer.trim());
}
