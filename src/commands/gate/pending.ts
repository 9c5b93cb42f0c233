import { detectCi } from '../../ci/provider.ts';
import { ConfigError, RungateError, UsageError } from '../../errors.ts';
import { exitCodeOf, mostSevere } from '../../exit.ts';
import { rows } from '../../options/table.ts';
import { echoed } from '../../suggest.ts';
import { type Context, createContext } from '../context.ts';
import { openDetached } from './detached-tools.ts';
import { checkOnlyOutput, continuedGate, continueGate } from './resume.ts';

/** For one read, which may have to wait for its turn. The next job comes soon. */
const waitMs = 15_000;

/** Returns the detached gates of this repository that no job continues, the oldest first. */
async function pendingIds({ io, flags, settings }: Context): Promise<readonly string[]> {
  const { repository } = detectCi(io.env);
  if (repository === null)
    throw new ConfigError('--resume-pending needs the job of a repository: the repository is unknown', {
      hint: 'run it in a workflow of the repository',
    });
  const detached = await openDetached(io, flags, settings);
  try {
    return (await detached.hub.list({ repository })).ids;
  } finally {
    await detached.close();
  }
}

/** Goes on with each pending gate, one after the other. Returns the most severe exit code. @throws RungateError */
export async function resumePendingGates(own: Context, names: readonly string[]): Promise<number> {
  const { io, flags, output, argv } = own;
  if (names.length > 0)
    throw new UsageError('a gate and --resume-pending cannot be combined', {
      hint: `leave out ${echoed(names[0] ?? '')}`,
    });
  checkOnlyOutput(flags, rows.resumePending);
  const { resumePending: _pending, ...outputFlags } = flags;
  const codes: number[] = [];
  for (const resume of await pendingIds(own)) {
    try {
      const continued = await continuedGate(io, { ...outputFlags, resume });
      const context = await createContext(io, continued.flags, continued.settings, { argv });
      try {
        codes.push(await continueGate(context, [], { ...continued.resumed, waitMs }));
      } finally {
        await context.close();
      }
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      await output.warn(`gate ${resume}: ${output.excerpt(error.message, 400)}`, error.hint);
      codes.push(exitCodeOf(error));
    }
  }
  if (codes.length === 0) await output.note('no detached gate of this repository is pending');
  return mostSevere(codes);
}
