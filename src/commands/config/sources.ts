import { ConfigError, UsageError } from '../../errors.ts';
import type { PlanNode } from '../../gate/plan/graph.ts';
import type { Io } from '../../host/io.ts';
import type { StateText } from '../../host/state-file.ts';
import { type Flags, type SavedId, type SentId, savedIds, sentIds } from '../../options/table.ts';
import { parseUrl } from '../../parse-url.ts';
import { environmentSettings } from '../../settings/environment.ts';
import type { FileGate } from '../../settings/gates.ts';
import { chooseProfile, type ProfileChoice, profilesPath } from '../../settings/locate.ts';
import { defaultSettings, mergeSettings } from '../../settings/merge.ts';
import type { Settings, SomeSettings } from '../../settings/names.ts';
import {
  type Profile,
  profileOf,
  profileSecrets,
  profileSource,
  readProfiles,
} from '../../settings/profiles.ts';
import { chosenFormat } from '../options.ts';
import { chooseProjectFile, readForRef } from './choose-file.ts';

/** A credential of the profile that is not used because it was saved for another service. */
interface Withheld {
  readonly name: SentId;
  readonly secret: string;
  /** The service that it was saved for. */
  readonly origin: string;
}

/** A gate of the project file, with the settings from all sources. */
export interface GateSettings extends Omit<FileGate, 'sources'>, PlanNode {
  readonly settings: Settings;
}

export interface SettingSources {
  readonly profile: ProfileChoice;
  /** The path of the profiles file, whether it exists or not; null if there is no folder for it. */
  readonly profilesFile: string | null;
  readonly projectFile: string | null;
  readonly gates: readonly GateSettings[];
  readonly withheld: readonly Withheld[];
  /** The secrets in the profile, used or not. */
  readonly kept: readonly SavedId[];
  /** The error if this user cannot read the profiles file, so that there is no profile; otherwise null. */
  readonly unreadable: ConfigError | null;
  /** Users other than its owner may read the profiles file. */
  readonly exposed: boolean;
}

export interface SourceOptions {
  /** The named profile does not have to exist yet. */
  readonly newProfile?: boolean;
  /** The named project file does not have to exist yet. */
  readonly newProjectFile?: boolean;
  /** The command changes the profile, so an unreadable profiles file is an error. */
  readonly changesProfile?: boolean;
  /** The command itself reports an unreadable profiles file. */
  readonly showsUnreadable?: boolean;
  /** The command's own defaults, over those of the rows. */
  readonly defaults?: SomeSettings;
  /** Returns the branch or tag for `branches` in the project file; called only if the file has any. */
  refOf?(): Promise<string | null> | string | null;
}

function unknownProfile({ name, by }: ProfileChoice, names: readonly string[]): UsageError | ConfigError {
  const message = `profile "${name}" does not exist (from ${by})`;
  const known = names.length === 0 ? 'no profiles exist yet' : `existing profiles: ${names.join(', ')}`;
  const hint = `${known}; to create it: rungate login --profile ${name}`;
  return by === '--profile' ? new UsageError(message, { hint }) : new ConfigError(message, { hint });
}

interface Stored extends StateText {
  readonly path: string;
}

/** Codes of errors that say that this user has no access to the profiles file or to its folder. */
const noAccess = ['EACCES', 'EPERM', 'ENOTDIR', 'EISDIR'];

/** Reads the profiles file; null if there is none, which costs no loading of modules. @throws ConfigError */
export function readStored(io: Io): Stored | null {
  const path = profilesPath(io);
  if (path === null) return null;
  try {
    const stored = io.stateFile(path).read();
    return stored === null ? null : { ...stored, path };
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const hint =
      'check that it is a regular file that you may read, or set RUNGATE_CONFIG_DIR to another folder';
    throw new ConfigError(`cannot read the profiles file: ${path} (${code})`, { hint, cause });
  }
}

/** Reads the profiles file, or returns the error if this user has no access to it. @throws ConfigError otherwise */
function readIfAllowed(io: Io): { stored: Stored | null; unreadable: ConfigError | null } {
  try {
    return { stored: readStored(io), unreadable: null };
  } catch (error) {
    const { code = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (error instanceof ConfigError && noAccess.includes(code)) return { stored: null, unreadable: error };
    throw error;
  }
}

/** Drops the profile's credentials that were saved for another service than the current one. */
function withhold(
  settings: Settings,
  kept: Profile['secrets'] = {},
): { settings: Settings; withheld: Withheld[] } {
  const { apiUrl } = settings;
  if (apiUrl === undefined) return { settings, withheld: [] };
  const origin = parseUrl(apiUrl.value)?.origin ?? null;
  const withheld = sentIds.flatMap((name): Withheld[] => {
    const secret = settings[name];
    const boundTo = kept[name]?.origin;
    if (secret?.origin !== 'profile' || boundTo === undefined || boundTo === origin) return [];
    return [{ name, secret: secret.value, origin: boundTo }];
  });
  const isUsed = ([name]: [string, unknown]) => !withheld.some((secret) => secret.name === name);
  return { settings: Object.fromEntries(Object.entries(settings).filter(isUsed)), withheld };
}

export async function loadSettings(
  io: Io,
  globals: Flags,
  flags: SomeSettings,
  options: SourceOptions = {},
): Promise<{ settings: Settings; sources: SettingSources }> {
  const profile = chooseProfile(globals.profile, io.env.RUNGATE_PROFILE);
  const projectFile = chooseProjectFile(io, globals.config);
  const isNewFile = options.newProjectFile === true && projectFile !== null && !io.exists(projectFile);
  const { stored, unreadable } = readIfAllowed(io);
  if (unreadable !== null && (profile.by !== null || options.changesProfile === true)) throw unreadable;
  const profiles = stored === null ? {} : readProfiles(stored.path, stored.text);
  const saved = profileOf(profiles, profile.name);
  if (saved === undefined && profile.by !== null && options.newProfile !== true) {
    throw unknownProfile(profile, Object.keys(profiles));
  }
  const project = projectFile === null || isNewFile ? null : await readForRef(io, projectFile, options.refOf);
  const profileDetail = `${stored?.path}${profile.by === null ? '' : `, profile ${profile.name}`}`;
  const others = [
    { origin: 'flag', values: { ...flags, format: chosenFormat(globals) } } as const,
    environmentSettings(io.env, io.readFile),
    ...(saved === undefined ? [] : [profileSource(saved, profileDetail)]),
    { ...defaultSettings, values: { ...defaultSettings.values, ...options.defaults } },
  ];
  const merged = mergeSettings([...others, ...(project?.sources ?? [])]);
  const gates = [...(project?.gates.values() ?? [])].map(({ sources, ...gate }): GateSettings => {
    // The file's other settings are the defaults of its gates.
    const settings = mergeSettings([...others, ...sources, ...(project?.sources ?? [])]);
    const { needs, advisory } = settings;
    return { ...gate, settings, needs: needs?.value ?? [], advisory: advisory?.value ?? false };
  });
  const { settings, withheld } = withhold(merged, saved?.secrets);
  // Windows has no file modes.
  const exposed = stored?.exposed === true && io.platform !== 'win32';
  const kept = savedIds.filter((name) => saved?.secrets[name] !== undefined);
  const profilesFile = profilesPath(io);
  const sources = { profile, profilesFile, projectFile, gates, withheld, kept, unreadable, exposed };
  return { settings, sources };
}

/** Returns every secret in the readable profiles, so that no message shows one. */
export async function keptSecrets(io: Io): Promise<string[]> {
  try {
    const stored = readStored(io);
    if (stored === null) return [];
    return profileSecrets(readProfiles(stored.path, stored.text));
  } catch {
    return [];
  }
}
