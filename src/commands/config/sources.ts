import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { StateText } from '../../host/state-file.ts';
import { environmentSettings } from '../../settings/environment.ts';
import { chooseProfile, type ProfileChoice, profilesPath } from '../../settings/locate.ts';
import { defaultSettings, mergeSettings } from '../../settings/merge.ts';
import type { Settings, SettingValues, Source } from '../../settings/names.ts';
import { type GlobalOptions, globalSettings } from '../global-options.ts';
import { chooseProjectFile, projectFileSource } from './project-file.ts';

const boundNames = ['apiKey', 'token'] as const;

/** The services that the profile's credentials were given for. */
type Bound = { readonly [Name in (typeof boundNames)[number]]?: { readonly origin: string } };

/** A credential of the profile that is not used, since it was given for another service. */
export interface Withheld {
  readonly name: (typeof boundNames)[number];
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

/** The file of profiles; null where there is none, which is found out without loading anything. */
function readStored(io: Io, path: string | null): StateText | null {
  if (path === null) return null;
  try {
    return io.stateFile(path).read();
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const hint = 'check that it is a file that you may read';
    throw new ConfigError(`the file of profiles cannot be read: ${path} (${code})`, { hint, cause });
  }
}

async function profileSource(
  io: Io,
  path: string,
  { text }: StateText,
  choice: ProfileChoice,
): Promise<{ source: Source; bound: Bound } | { names: readonly string[] }> {
  const { understand } = await import('./store.ts');
  const profiles = await understand(io, path, text);
  const { profileOf, profileSource: sourceOf } = await import('../../settings/profiles.ts');
  const profile = profileOf(profiles, choice.name);
  if (profile === undefined) return { names: Object.keys(profiles) };
  const detail = choice.by === null ? path : `${path}, profile ${choice.name}`;
  return { source: sourceOf(profile, detail), bound: profile.secrets };
}

/** Takes out what the profile keeps for another service than the one that is meant now. */
function withhold(settings: Settings, bound: Bound): { settings: Settings; withheld: Withheld[] } {
  const { apiUrl } = settings;
  if (apiUrl === undefined) return { settings, withheld: [] };
  const origin = URL.canParse(apiUrl.value) ? new URL(apiUrl.value).origin : null;
  const withheld = boundNames.flatMap((name): Withheld[] => {
    const secret = settings[name];
    const own = bound[name]?.origin;
    if (secret?.origin !== 'profile' || own === undefined || own === origin) return [];
    return [{ name, secret: secret.value, origin: own }];
  });
  const names: readonly string[] = withheld.map(({ name }) => name);
  const kept = Object.entries(settings).filter(([name]) => !names.includes(name));
  return { settings: Object.fromEntries(kept) as Settings, withheld };
}

/** Settings from the flags, the environment, the project file, the profile and the defaults, and where those are. */
export async function loadSettings(
  io: Io,
  globals: GlobalOptions,
  flags: Partial<SettingValues>,
  options: SourceOptions = {},
): Promise<{ settings: Settings; sources: Sources }> {
  const profile = chooseProfile(globals.profile, io.env.RUNGATE_PROFILE);
  const profilesFile = profilesPath(io);
  const projectFile = chooseProjectFile(io, globals.config);
  const stored = readStored(io, profilesFile);
  const read =
    stored === null || profilesFile === null
      ? { names: [] }
      : await profileSource(io, profilesFile, stored, profile);
  if ('names' in read && profile.by !== null && options.newProfile !== true) {
    throw unknownProfile(profile, read.names);
  }
  const merged = mergeSettings([
    { origin: 'flag', values: { ...globalSettings(globals), ...flags } },
    environmentSettings(io.env, io.readFile),
    ...(projectFile === null
      ? []
      : [await projectFileSource(io, projectFile, () => options.refOf?.() ?? null)]),
    ...('source' in read ? [read.source] : []),
    defaultSettings,
  ]);
  const { settings, withheld } = withhold(merged, 'bound' in read ? read.bound : {});
  // Windows has no such modes.
  const exposed = stored?.exposed === true && io.platform !== 'win32';
  return { settings, sources: { profile, profilesFile, projectFile, withheld, exposed } };
}

/** Every secret that profiles keep, as far as they can be read: for taking them out of messages. */
export async function keptSecrets(io: Io): Promise<string[]> {
  const path = profilesPath(io);
  try {
    const stored = readStored(io, path);
    if (stored === null || path === null) return [];
    const { readProfiles, secretsOf } = await import('../../settings/profiles.ts');
    return secretsOf(readProfiles(path, stored.text));
  } catch {
    return [];
  }
}
