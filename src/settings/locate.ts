import { dirname, join, resolve } from 'node:path';
import { ConfigError, UsageError } from '../errors.ts';

export const projectFileName = '.rungate.json';
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

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: string;
}

/** The variable with the parent of the folder, the parent at home without it, and rungate's folder in the parent. */
type UserFolder = readonly [variable: string | null, atHome: string | null, folder: string];

const folders = {
  config: {
    win32: ['APPDATA', null, 'rungate/Config'],
    darwin: [null, 'Library/Preferences', 'rungate'],
    xdg: ['XDG_CONFIG_HOME', '.config', 'rungate'],
  },
  state: {
    win32: ['LOCALAPPDATA', null, 'rungate/State'],
    darwin: [null, 'Library/Application Support', 'rungate'],
    xdg: ['XDG_STATE_HOME', '.local/state', 'rungate'],
  },
} as const satisfies Record<string, Record<string, UserFolder>>;

/** Returns a file of the user: in RUNGATE_CONFIG_DIR, or else in the system's folder; null if neither is known. */
function userFile(
  kind: keyof typeof folders,
  name: string,
  { env, cwd, platform }: Surroundings,
): string | null {
  const filled = (variable: string | null) =>
    variable !== null && env[variable]?.trim() ? env[variable] : '';
  const chosen = filled('RUNGATE_CONFIG_DIR');
  if (chosen) return join(resolve(cwd, chosen), name);
  const system = platform === 'win32' || platform === 'darwin' ? platform : 'xdg';
  const [variable, atHome, folder] = folders[kind][system];
  const parent = filled(variable);
  // The XDG specification says to ignore a relative path.
  if (parent && (system !== 'xdg' || parent.startsWith('/'))) return join(parent, folder, name);
  const home = filled('HOME');
  return home && atHome !== null ? join(home, atHome, folder, name) : null;
}

/** Returns the path of the profiles file, or null if there is no folder for it. */
export const profilesPath = (around: Surroundings) => userFile('config', 'profiles.json', around);

/**
 * Returns the path of the file about gates that go on: of the user, or in the folder of the CI job; null if there is no folder for it.
 */
export function slicesPath(around: Surroundings, jobFolder: string | null): string | null {
  if (jobFolder !== null && !around.env.RUNGATE_CONFIG_DIR?.trim())
    return join(jobFolder, 'rungate', 'slices.json');
  return userFile('state', 'slices.json', around);
}

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
