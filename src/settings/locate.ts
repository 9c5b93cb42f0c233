import { dirname, join, resolve } from 'node:path';
import { ConfigError, UsageError } from '../errors.ts';

export const projectFileName = '.rungate.json';

/**
 * The nearest `.rungate.json` from a folder up to the repository's root, the folder with `.git`. Outside a repository
 * only the folder itself counts: above it may be anybody's, as /tmp is.
 */
export function findProjectFile(cwd: string, exists: (path: string) => boolean): string | null {
  const root = findRoot(cwd, exists);
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, projectFileName);
    if (exists(path)) return path;
    if (root === null || folder === root) return null;
  }
}

/** The root of the repository that a folder is in, the nearest with `.git`; null outside of any. */
export function findRoot(cwd: string, exists: (path: string) => boolean): string | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (exists(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return null;
  }
}

export interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: string;
}

/** Where profiles live: RUNGATE_CONFIG_DIR, else the system's folder for settings; null where there is none. */
export function configFolder({ env, cwd, platform }: Place): string | null {
  const filled = (name: string) => (env[name]?.trim() ? env[name] : undefined);
  const own = filled('RUNGATE_CONFIG_DIR');
  if (own !== undefined) return resolve(cwd, own);
  if (platform === 'win32') {
    const data = filled('APPDATA');
    return data === undefined ? null : join(data, 'rungate', 'Config');
  }
  const home = filled('HOME');
  if (platform === 'darwin') return home === undefined ? null : join(home, 'Library/Preferences/rungate');
  const xdg = filled('XDG_CONFIG_HOME');
  // By its specification a relative XDG folder is to be ignored.
  if (xdg?.startsWith('/')) return join(xdg, 'rungate');
  return home === undefined ? null : join(home, '.config', 'rungate');
}

/** The file of profiles; null where there is no place for one. */
export function profilesPath(place: Place): string | null {
  const folder = configFolder(place);
  return folder === null ? null : join(folder, 'profiles.json');
}

export const defaultProfile = 'default';

export interface ProfileChoice {
  readonly name: string;
  /** What named it: a flag, a variable; null for the default. */
  readonly by: '--profile' | 'RUNGATE_PROFILE' | null;
}

/** Which profile is meant. @throws UsageError or ConfigError for a name that cannot be one */
export function chooseProfile(flag: string | undefined, variable: string | undefined): ProfileChoice {
  const by = flag !== undefined ? '--profile' : variable?.trim() ? 'RUNGATE_PROFILE' : null;
  const name = by === null ? defaultProfile : (flag ?? variable ?? '').trim();
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    const message = `${by}: that cannot be the name of a profile`;
    const hint = 'a name has letters, digits, dots, dashes and underscores';
    throw by === '--profile' ? new UsageError(message, { hint }) : new ConfigError(message, { hint });
  }
  return { name, by };
}
