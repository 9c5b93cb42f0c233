import { UsageError } from '../../errors.ts';
import { fileIds, type OptionId, rowOf } from '../../options/table.ts';
import { inCi } from '../../output/motion.ts';
import type { Context } from '../context.ts';
import { type WaitFlags, waitFlags } from './wait-flags.ts';

type StartFlags = WaitFlags & { wait?: boolean };

/** Options whose promise nothing keeps without a wait. */
const promises = [
  '--junit',
  '--report',
  '--receipt',
  '--subject',
  '--subject-file',
  '--deployed-url',
  '--deployed-is',
];

/**
 * Refuses options of a wait on a command that does not wait. With `--no-wait`, the policy and the limits are allowed, since
 * several commands may share their arguments; a report is not, since none would be written, and neither is the deployed build,
 * since nothing would check it.
 */
export function refuseWaitFlags(flags: StartFlags): void {
  const useless = waitFlags(flags).filter((name) => flags.wait !== false || promises.includes(name));
  if (useless.length === 0) return;
  const cause = flags.wait === false ? 'with --no-wait' : 'without --wait';
  const hint =
    flags.wait === false
      ? 'remove --no-wait, or give them to the run wait that follows'
      : useless.some((name) => promises.includes(name))
        ? 'use rungate gate, which waits, or add --wait'
        : 'use rungate gate, which waits, or add --no-wait if run wait follows';
  const names = new Intl.ListFormat('en').format(useless);
  throw new UsageError(`${names} ${useless.length === 1 ? 'has' : 'have'} no effect ${cause}`, { hint });
}

const weakens = (id: OptionId) => rowOf(id).weakens === true;

/** The settings that decide what a gate accepts, then the other settings of a wait. */
const gateSettings = [
  ...fileIds.filter(weakens),
  ...fileIds.filter((id) => !weakens(id) && (rowOf(id).group === 'Wait options:' || id === 'deployed.url')),
];

/** Warns that a CI job starts a run and does not wait for it, unless `--no-wait` says that it should not. */
export async function warnWithoutWait(
  { io, output, settings }: Context,
  flags: StartFlags,
  provider: string | null,
): Promise<void> {
  if (flags.wait === false || (provider === null && !inCi(io.env))) return;
  const unused = gateSettings.flatMap((name) => {
    const setting = settings[name];
    return setting === undefined || setting.origin === 'default' ? [] : [`${name} (${setting.detail})`];
  });
  const effect =
    unused.length === 0
      ? 'the run cannot fail this job'
      : `no gate uses these settings: ${output.excerpt(unused.join(', '), 400)}`;
  await output.alert(
    `${output.paint('warn', 'warning:')} run trigger does not wait for the run, so ${effect}`,
  );
  await output.alert(
    `  ${output.paint('dim', '→')} use rungate gate, which waits, or --no-wait if run wait follows or you do not want a gate`,
  );
}
