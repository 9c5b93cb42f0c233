import * as z from 'zod/mini';
import { ConfigError } from '../errors.ts';
import { jsonFor } from '../options/read.ts';
import { type FileId, isFileId, type SavedId } from '../options/table.ts';
import { readFields } from './fields.ts';
import { isObject, readJson } from './json-file.ts';
import { type SettingName, type SettingSource, type SettingValues, sourceAt } from './names.ts';

interface BoundSecret {
  readonly value: string;
  /** The scheme, host and port of the service that it is for. */
  readonly origin: string;
}

export interface Profile {
  readonly settings: Partial<Pick<SettingValues, FileId>>;
  readonly secrets: {
    readonly apiKey?: BoundSecret;
    readonly token?: BoundSecret;
    readonly webhookSecrets?: readonly string[];
    readonly tenantSecret?: string;
  };
}

export type Profiles = Readonly<Record<string, Profile>>;

const filled = z.string().check(z.minLength(1));
const bound = z.optional(z.looseObject({ value: filled, origin: filled }));

/** The secrets of a profile. Others, of a newer version, are kept. */
const secretsSchema = z.looseObject({
  apiKey: bound,
  token: bound,
  webhookSecrets: z.optional(z.array(filled)),
  tenantSecret: z.optional(filled),
});

const fileVersion = 1;

/** A damaged file is never ignored: without its settings, a gate could be laxer. @throws ConfigError */
export function readProfiles(path: string, text: string): Profiles {
  const hint = 'fix it, or move it away; or set RUNGATE_CONFIG_DIR to another folder';
  const damaged = (what: string, cause?: unknown) => new ConfigError(what, { hint, cause });
  let file: ReturnType<typeof readJson>;
  try {
    file = readJson(path, new TextEncoder().encode(text));
  } catch (error) {
    throw error instanceof ConfigError ? damaged(error.message, error) : error;
  }
  const { version, profiles } = Object(file.value);
  if (typeof version === 'number' && version > fileVersion) {
    throw new ConfigError(`${path}: this file was written by a newer version of rungate`, {
      hint: 'update rungate, or set RUNGATE_CONFIG_DIR to another folder',
    });
  }
  if (version !== fileVersion || !isObject(profiles)) throw damaged(`${path}: not a profiles file`);
  const read = Object.entries(profiles).map(([name, json]): [string, Profile] => {
    const at = ['profiles', name];
    const { settings = {}, secrets = {} } = Object(json);
    if (!isObject(json) || !secretsSchema.safeParse(secrets).success)
      throw damaged(`${file.place(at)}: not a profile`);
    return [name, { settings: readFields(file, settings, [...at, 'settings']), secrets }];
  });
  return Object.fromEntries(read);
}

/** Returns the text of the profiles file, as `readProfiles` reads it. */
export function writeProfiles(profiles: Profiles): string {
  const written = Object.entries(profiles).map(([name, { settings, secrets }]) => {
    const ids = Object.keys(settings).filter(isFileId);
    const fields = ids.map((id) => [id, jsonFor(id, settings[id] as never)]);
    return [name, { settings: Object.fromEntries(fields), secrets }];
  });
  return `${JSON.stringify({ version: fileVersion, profiles: Object.fromEntries(written) }, null, 2)}\n`;
}

export function profileOf(profiles: Profiles, name: string): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

export function profileSource({ settings, secrets }: Profile, detail: string): SettingSource {
  const { apiKey, token, webhookSecrets, tenantSecret } = secrets;
  const sent = { apiKey: apiKey?.value, token: token?.value };
  return sourceAt('profile', { ...settings, ...sent, webhookSecrets, tenantSecret }, detail);
}

/** Returns every secret of every profile, so that no message shows one. */
export function profileSecrets(profiles: Profiles): string[] {
  return Object.values(profiles).flatMap(({ secrets: { apiKey, token, webhookSecrets, tenantSecret } }) =>
    [apiKey?.value, token?.value, ...(webhookSecrets ?? []), tenantSecret].filter(
      (secret) => secret !== undefined,
    ),
  );
}

/** Returns the profiles with one of them changed. A new profile starts empty. */
export function changeProfile(
  profiles: Profiles,
  name: string,
  change: (profile: Profile) => Profile,
): Profiles {
  return { ...profiles, [name]: change(profileOf(profiles, name) ?? { settings: {}, secrets: {} }) };
}

/** Returns the profile with settings added or replaced. `process` replaces `tags`, and vice versa. */
export function withSetting(profile: Profile, values: Profile['settings']): Profile {
  const { process, tags, ...rest } = profile.settings;
  const selects = values.process !== undefined || values.tags !== undefined;
  return { ...profile, settings: { ...(selects ? rest : profile.settings), ...values } };
}

export function withSecret<Name extends SavedId>(
  profile: Profile,
  name: Name,
  secret: Required<Profile['secrets']>[Name],
): Profile {
  return { ...profile, secrets: { ...profile.secrets, [name]: secret } };
}

export function without(profile: Profile, name: SettingName): Profile {
  const keep = <Part extends object>(part: Part): Part =>
    Object.fromEntries(Object.entries(part).filter(([key]) => key !== name)) as Part;
  return { settings: keep(profile.settings), secrets: keep(profile.secrets) };
}
