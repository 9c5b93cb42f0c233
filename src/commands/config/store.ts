import { ConfigError, RungateError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { Output } from '../../output/output.ts';
import { excerpt } from '../../sanitize.ts';
import { type Profiles, readProfiles, writeProfiles } from '../../settings/profiles.ts';

/** The part of a command's context that changing profiles needs. */
interface Surroundings {
  readonly io: Io;
  readonly output: Output;
  readonly sources: { readonly profilesFile: string | null };
}

/** Returns the path of the profiles file. @throws ConfigError if there is no folder for it */
export function profilesFile({ sources }: Pick<Surroundings, 'sources'>): string {
  if (sources.profilesFile !== null) return sources.profilesFile;
  throw new ConfigError('no folder for profiles: neither a home folder nor RUNGATE_CONFIG_DIR is set', {
    hint: 'set RUNGATE_CONFIG_DIR to a folder that you own',
  });
}

/** Changes the profiles under a lock, so that concurrent changes are not lost. */
export async function changeStore(
  context: Surroundings,
  change: (profiles: Profiles) => Profiles,
): Promise<void> {
  const { io, output } = context;
  const path = profilesFile(context);
  const format = { parse: (text: string) => readProfiles(path, text), write: writeProfiles };
  try {
    const changed = io.stateFile(path).change(format, change);
    await output.motion.during(`waiting for ${excerpt(path)}`, changed);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof RungateError || code === undefined) throw error;
    const hint =
      code === 'ELOCKED'
        ? `another rungate process holds ${path}.lock; if none is running, remove that file`
        : 'check the permissions of the folder, or set RUNGATE_CONFIG_DIR to another one';
    throw new ConfigError(`cannot write the profile: ${path} (${code})`, { hint, cause: error });
  }
}
