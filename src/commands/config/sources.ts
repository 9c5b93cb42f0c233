import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { StateText } from '../../host/state-file.ts';
import { environmentSettings } from '../../settings/environment.ts';
import { chooseProfile, type ProfileChoice, profilesPath } from '../../settings/locate.ts';
import { defaultSettings, mergeSettings } from '../../settings/merge.ts';
import { type Settings, type SomeSettings, type Source, sentNames } from '../../settings/names.ts';
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
  /** Others than its owner may read the file of profiles. */
  readonly exposed: boolean;
}

export interface SourceOptions {
  /** The profile that is named may be one that is not there yet. */
  readonly newProfile?: boolean;
  /** The branch or tag that `branches` in the project file is about; asked for only where there are some. */
  refOf?(): Promise<string | null> | string | null;
}

function unknownProfile({ name, by }: ProfileChoice, names: readonly string[]): UsageError | ConfigError {
  const message = `there is no profile "${name}", which ${by} names`;
  const known = names.length === 0 ? 'there are none yet' : `there are ${names.join(', ')}`;
  const hint = `${known}; rungate login --profile ${name} makes it`;
  return by === '--profile' ? new UsageError(message, { hint }) : new ConfigError(message, { hint });
}

export interface Stored extends StateText {
  readonly path: string;
}

/** The file of profiles; null where there is none, which is found out without loading anything. */
export function readStored(io: Io): Stored | null {
  const path = profilesPath(io);
  if (path === null) return null;
  try {
    const stored = io.stateFile(path).read();
    return stored === null ? null : { ...stored, path };
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const hint = 'check that it is a file that you may read';
    throw new ConfigError(`the file of profiles cannot be read: ${path} (${code})`, { hint, cause });
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
  const origin = URL.canParse(apiUrl.value) ? new URL(apiUrl.value).origin : null;
  const withheld = sentNames.flatMap((name): Withheld[] => {
    const secret = settings[name];
    const own = kept[name]?.origin;
    if (secret?.origin !== 'profile' || own === undefined || own === origin) return [];
    return [{ name, secret: secret.value, origin: own }];
  });
  const without = Object.fromEntries(withheld.map(({ name }) => [name, undefined]));
  return { settings: { ...settings, ...without }, withheld };
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
  const stored = readStored(io);
  const profiles = stored === null ? {} : await (await import('./store.ts')).understand(io, stored);
  const own = Object.hasOwn(profiles, profile.name) ? profiles[profile.name] : undefined;
  if (own === undefined && profile.by !== null && options.newProfile !== true) {
    throw unknownProfile(profile, Object.keys(profiles));
  }
  const merged = mergeSettings([
    { origin: 'flag', values: { ...globalSettings(globals), ...flags } },
    environmentSettings(io.env, io.readFile),
    ...(projectFile === null ? [] : [await projectFileSource(io, projectFile, options.refOf)]),
    ...(own === undefined || stored === null ? [] : [await profileSource(own, stored.path, profile)]),
    defaultSettings,
  ]);
  const { settings, withheld } = withhold(merged, own?.secrets);
  // Windows has no such modes.
  const exposed = stored?.exposed === true && io.platform !== 'win32';
  return { settings, sources: { profile, profilesFile: profilesPath(io), projectFile, withheld, exposed } };
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
