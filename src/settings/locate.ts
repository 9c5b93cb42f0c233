import { dirname, join, resolve } from 'node:path';
import { ConfigError, UsageError } from '../errors.ts';

export const projectFileName = '.rungate.json';
/** The size limit of a project file. */
export const maxFileBytes = 1024 * 1024;

/**
 * Returns the nearest `.rungate.json`, from a folder up to the root of its repository, or null. Outside a repository, only
 * the folder itself counts: other users may be able to write to a parent folder, such as /tmp.
 */
export function findProjectFile(cwd: string, exists: (path: string) => boolean): string | null {
  const root = findRoot(cwd, exists);
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, projectFileName);
    if (exists(path)) return path;
    if (root === null || folder === root) return null;
  }
}

/** Returns the root of the repository around a folder (the nearest folder with `.git`), or null outside a repository. */
export function findRoot(cwd: string, exists: (path: string) => boolean): string | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (exists(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return null;
  }
}

interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: string;
}

interface UserFolder {
  /** The variable with the parent on Windows, and the folder in it. */
  win32: readonly [variable: string, folder: string];
  /** The folder at home on macOS. */
  darwin: string;
  /** The variable with the parent on other systems, and the parent at home without it. */
  xdg: readonly [variable: string, folder: string];
}

const configFolder: UserFolder = {
  win32: ['APPDATA', 'rungate/Config'],
  darwin: 'Library/Preferences/rungate',
  xdg: ['XDG_CONFIG_HOME', '.config'],
};
const stateFolder: UserFolder = {
  win32: ['LOCALAPPDATA', 'rungate/State'],
  darwin: 'Library/Application Support/rungate',
  xdg: ['XDG_STATE_HOME', '.local/state'],
};

/** Returns a file of the user: in RUNGATE_CONFIG_DIR, or else in the system's folder; null if neither is known. */
function userFile(folder: UserFolder, name: string, { env, cwd, platform }: Place): string | null {
  const filled = (variable: string) => (env[variable]?.trim() ? env[variable] : undefined);
  const chosen = filled('RUNGATE_CONFIG_DIR');
  if (chosen !== undefined) return join(resolve(cwd, chosen), name);
  if (platform === 'win32') {
    const [variable, inside] = folder.win32;
    const data = filled(variable);
    return data === undefined ? null : join(data, inside, name);
  }
  const home = filled('HOME');
  if (platform === 'darwin') return home === undefined ? null : join(home, folder.darwin, name);
  const [variable, atHome] = folder.xdg;
  const xdg = filled(variable);
  // The XDG specification says to ignore a relative path.
  if (xdg?.startsWith('/')) return join(xdg, 'rungate', name);
  return home === undefined ? null : join(home, atHome, 'rungate', name);
}

/** Returns the path of the profiles file, or null if there is no folder for it. */
export const profilesPath = (place: Place) => userFile(configFolder, 'profiles.json', place);

/** Returns the path of the file about gates that go on, or null if there is no folder for it. */
export const gatesPath = (place: Place) => userFile(stateFolder, 'gates.json', place);

const defaultProfile = 'default';

export interface ProfileChoice {
  readonly name: string;
  /** The option or variable that chose it; null for the default profile. */
  readonly by: '--profile' | 'RUNGATE_PROFILE' | null;
}

/** Chooses the profile. @throws UsageError or ConfigError if the name is invalid */
export function chooseProfile(flag: string | undefined, variable: string | undefined): ProfileChoice {
  const by = flag !== undefined ? '--profile' : variable?.trim() ? 'RUNGATE_PROFILE' : null;
  const name = by === null ? defaultProfile : (flag ?? variable ?? '').trim();
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    const message = `${by}: invalid profile name`;
    const hint =
      'use up to 64 letters, digits, dots, hyphens and underscores, starting with a letter or digit';
    throw by === '--profile' ? new UsageError(message, { hint }) : new ConfigError(message, { hint });
  }
  return { name, by };
}
