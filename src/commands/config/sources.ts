import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { StateText } from '../../host/state-file.ts';
import { parseUrl } from '../../parse-url.ts';
import { environmentSettings } from '../../settings/environment.ts';
import { chooseProfile, type ProfileChoice, profilesPath } from '../../settings/locate.ts';
import { defaultSettings, mergeSettings } from '../../settings/merge.ts';
import {
  type SecretName,
  type Settings,
  type SomeSettings,
  type Source,
  secretNames,
  sentNames,
} from '../../settings/names.ts';
import type { Profile } from '../../settings/profiles.ts';
import { type GlobalOptions, globalSettings } from '../global-options.ts';
import { chooseProjectFile, projectFileSource } from './project-file.ts';

/** A credential of the profile that is not used, since it was given for another service. */
export interface Withheld {
  readonly name: (typeof sentNames)[number];
  readonly secret: string;
  /** The service that it was given for. */
  readonly origin: string;
}

/** Where settings come from, beside the settings. */
export interface Sources {
  readonly profile: ProfileChoice;
  /** The file of profiles, whether it is there or not; null where there is no place for one. */
  readonly profilesFile: string | null;
  readonly projectFile: string | null;
  readonly withheld: readonly Withheld[];
  /** The secrets that the profile keeps, used or not. */
  readonly kept: readonly SecretName[];
  /** Why this user cannot read the file of profiles: there is no profile then; null where it can be read. */
  readonly unreadable: ConfigError | null;
  /** Others than its owner may read the file of profiles. */
  readonly exposed: boolean;
}

export interface SourceOptions {
  /** The profile that is named may be one that is not there yet. */
  readonly newProfile?: boolean;
  /** The project file that is named may be one that is not there yet. */
  readonly newProjectFile?: boolean;
  /** The profile is changed: that it cannot be read is an error. */
  readonly changesProfile?: boolean;
  /** The command says itself that the file of profiles cannot be read. */
  readonly showsUnreadable?: boolean;
  /** The branch or tag that `branches` in the project file is about; asked for only where there are some. */
  refOf?(): Promise<string | null> | string | null;
}

function unknownProfile({ name, by }: ProfileChoice, names: readonly string[]): UsageError | ConfigError {
  const message = `there is no profile "${name}", which ${by} names`;
  const known = names.length === 0 ? 'there are none yet' : `the profiles are ${names.join(', ')}`;
  const hint = `${known}; rungate login --profile ${name} makes it`;
  return by === '--profile' ? new UsageError(message, { hint }) : new ConfigError(message, { hint });
}

export interface Stored extends StateText {
  readonly path: string;
}

/** This user has no access to the file of profiles or to its folder. */
class NoAccess extends ConfigError {}
const noAccess = ['EACCES', 'EPERM', 'ENOTDIR', 'EISDIR'];

/** The file of profiles; null where there is none, which is found out without loading anything. @throws ConfigError */
export function readStored(io: Io): Stored | null {
  const path = profilesPath(io);
  if (path === null) return null;
  try {
    const stored = io.stateFile(path).read();
    return stored === null ? null : { ...stored, path };
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const hint = 'check that it is a file that you may read, or set RUNGATE_CONFIG_DIR to another folder';
    const Kind = noAccess.includes(code) ? NoAccess : ConfigError;
    throw new Kind(`the file of profiles cannot be read: ${path} (${code})`, { hint, cause });
  }
}

/** The file of profiles, or why this user has no access to it. @throws ConfigError if it is damaged */
function readIfAllowed(io: Io): { stored: Stored | null; unreadable: ConfigError | null } {
  try {
    return { stored: readStored(io), unreadable: null };
  } catch (error) {
    if (error instanceof NoAccess) return { stored: null, unreadable: error };
    throw error;
  }
}

async function profileSource(own: Profile, path: string, { name, by }: ProfileChoice): Promise<Source> {
  const profiles = await import('../../settings/profiles.ts');
  return profiles.profileSource(own, by === null ? path : `${path}, profile ${name}`);
}

/** Takes out what the profile keeps for another service than the one that is meant now. */
function withhold(
  settings: Settings,
  kept: Profile['secrets'] = {},
): { settings: Settings; withheld: Withheld[] } {
  const { apiUrl } = settings;
  if (apiUrl === undefined) return { settings, withheld: [] };
  const origin = parseUrl(apiUrl.value)?.origin ?? null;
  const withheld = sentNames.flatMap((name): Withheld[] => {
    const secret = settings[name];
    const own = kept[name]?.origin;
    if (secret?.origin !== 'profile' || own === undefined || own === origin) return [];
    return [{ name, secret: secret.value, origin: own }];
  });
  const isUsed = ([name]: [string, unknown]) => !withheld.some((one) => one.name === name);
  return { settings: Object.fromEntries(Object.entries(settings).filter(isUsed)), withheld };
}

/** Settings from the flags, the environment, the project file, the profile and the defaults, and where those are. */
export async function loadSettings(
  io: Io,
  globals: GlobalOptions,
  flags: SomeSettings,
  options: SourceOptions = {},
): Promise<{ settings: Settings; sources: Sources }> {
  const profile = chooseProfile(globals.profile, io.env.RUNGATE_PROFILE);
  const projectFile = chooseProjectFile(io, globals.config);
  const isNewFile = options.newProjectFile === true && projectFile !== null && !io.exists(projectFile);
  const { stored, unreadable } = readIfAllowed(io);
  if (unreadable !== null && (profile.by !== null || options.changesProfile === true)) throw unreadable;
  const profiles = stored === null ? {} : await (await import('./store.ts')).understand(io, stored);
  const own = Object.hasOwn(profiles, profile.name) ? profiles[profile.name] : undefined;
  if (own === undefined && profile.by !== null && options.newProfile !== true) {
    throw unknownProfile(profile, Object.keys(profiles));
  }
  const merged = mergeSettings([
    { origin: 'flag', values: { ...globalSettings(globals), ...flags } },
    environmentSettings(io.env, io.readFile),
    ...(projectFile === null || isNewFile ? [] : [await projectFileSource(io, projectFile, options.refOf)]),
    ...(own === undefined || stored === null ? [] : [await profileSource(own, stored.path, profile)]),
    defaultSettings,
  ]);
  const { settings, withheld } = withhold(merged, own?.secrets);
  // Windows has no such modes.
  const exposed = stored?.exposed === true && io.platform !== 'win32';
  const kept = secretNames.filter((name) => own?.secrets[name] !== undefined);
  const profilesFile = profilesPath(io);
  const sources = { profile, profilesFile, projectFile, withheld, kept, unreadable, exposed };
  return { settings, sources };
}

/** Every secret that profiles keep, as far as they can be read: for taking them out of messages. */
export async function keptSecrets(io: Io): Promise<string[]> {
  try {
    const stored = readStored(io);
    if (stored === null) return [];
    const { readProfiles, secretsOf } = await import('../../settings/profiles.ts');
    return secretsOf(readProfiles(stored.path, stored.text));
  } catch {
    return [];
  }
}
