import { ConfigError, RungateError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { Output } from '../../output/output.ts';
import { excerpt } from '../../sanitize.ts';
import { DamagedProfiles, type Profiles, readProfiles, writeProfiles } from '../../settings/profiles.ts';

/** What changing the profiles takes of a command's context. */
interface Surroundings {
  readonly io: Io;
  readonly output: Output;
  readonly sources: { readonly profilesFile: string | null };
}

/** Where profiles are kept. @throws ConfigError where there is no place for them */
export function profilesFile({ sources }: Pick<Surroundings, 'sources'>): string {
  if (sources.profilesFile !== null) return sources.profilesFile;
  throw new ConfigError('there is no place for profiles: neither a home folder nor RUNGATE_CONFIG_DIR', {
    hint: 'set RUNGATE_CONFIG_DIR to a folder of yours',
  });
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** `20261120T235528123Z` */
const timeSuffix = (now: number) => new Date(now).toISOString().replace(/[-:.]/g, '');

/** Renames a file that cannot be understood, so that nothing in it is lost and nothing is made of it either. */
async function setAside(io: Io, path: string, text: string, damage: DamagedProfiles): Promise<ConfigError> {
  const hint = 'mend it and rename it back, or make a new one with rungate login and rungate config set';
  let aside: string | null;
  try {
    aside = await io.stateFile(path).setAside(text, `damaged-${timeSuffix(io.clock.now())}`);
  } catch (cause) {
    const message = `${damage.message}; the file of profiles is damaged, and cannot be set aside (${codeOf(cause)})`;
    return new ConfigError(message, { hint: 'mend it, or move it away', cause });
  }
  const done = aside === null ? 'somebody has changed it since: try again' : `it is now ${aside}`;
  return new ConfigError(`${damage.message}; the file of profiles was damaged: ${done}`, {
    hint,
    cause: damage,
  });
}

/** The profiles of a text. @throws ConfigError; a text that cannot be understood is set aside first */
export async function understand(io: Io, { path, text }: { path: string; text: string }): Promise<Profiles> {
  try {
    return readProfiles(path, text);
  } catch (error) {
    throw error instanceof DamagedProfiles ? await setAside(io, path, text, error) : error;
  }
}

/** Changes the profiles as they are when nobody else changes them. */
export async function changeStore(
  context: Surroundings,
  change: (profiles: Profiles) => Profiles,
): Promise<void> {
  const { io, output } = context;
  const path = profilesFile(context);
  let seen = '';
  const format = {
    parse(text: string): Profiles {
      seen = text;
      return readProfiles(path, text);
    },
    write: writeProfiles,
  };
  try {
    const changed = io.stateFile(path).change(format, change);
    await output.motion.during(`waiting for ${excerpt(path)}`, changed);
  } catch (error) {
    if (error instanceof DamagedProfiles) throw await setAside(io, path, seen, error);
    const code = codeOf(error);
    if (error instanceof RungateError || code === undefined) throw error;
    const hint =
      code === 'ELOCKED'
        ? `another rungate holds ${path}.lock; when there is none, remove that file`
        : 'check the folder and who may write to it, or give another one with RUNGATE_CONFIG_DIR';
    throw new ConfigError(`the profile cannot be written: ${path} (${code})`, { hint, cause: error });
  }
}
