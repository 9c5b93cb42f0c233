import { ConfigError, RungateError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { Output } from '../../output/output.ts';
import { excerpt } from '../../sanitize.ts';
import { DamagedProfiles, type Profiles, readProfiles, writeProfiles } from '../../settings/profiles.ts';

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

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** Formats a time as `20261120T235528123Z`. */
const timeSuffix = (now: number) => new Date(now).toISOString().replace(/[-:.]/g, '');

/** Moves a damaged file out of the way, so that its content is kept but not used. */
async function setAside(io: Io, path: string, text: string, damage: DamagedProfiles): Promise<ConfigError> {
  const hint = 'fix it and rename it back, or create a new one with rungate login and rungate config set';
  let aside: string | null;
  try {
    aside = await io.stateFile(path).setAside(text, `damaged-${timeSuffix(io.clock.now())}`);
  } catch (cause) {
    const message = `${damage.message}; the profiles file is damaged and could not be renamed (${codeOf(cause)})`;
    return new ConfigError(message, { hint: 'fix it, or move it away', cause });
  }
  const done =
    aside === null ? 'another process has changed it since: try again' : `it was moved to ${aside}`;
  return new ConfigError(`${damage.message}; the profiles file is damaged: ${done}`, {
    hint,
    cause: damage,
  });
}

/** Parses the profiles file. @throws ConfigError, after moving a damaged file aside */
export async function parseStored(io: Io, { path, text }: { path: string; text: string }): Promise<Profiles> {
  try {
    return readProfiles(path, text);
  } catch (error) {
    throw error instanceof DamagedProfiles ? await setAside(io, path, text, error) : error;
  }
}

/** Changes the profiles under a lock, so that concurrent changes are not lost. */
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
        ? `another rungate process holds ${path}.lock; if none is running, remove that file`
        : 'check the permissions of the folder, or set RUNGATE_CONFIG_DIR to another one';
    throw new ConfigError(`cannot write the profile: ${path} (${code})`, { hint, cause: error });
  }
}
