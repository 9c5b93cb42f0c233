import { resolve } from 'node:path';
import { ConfigError, RungateError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { InvalidValue, jsonOf, readValue } from '../../options/read.ts';
import { type FileId, fileIds, isFileId, isSecretId, rowOf, secretIds } from '../../options/table.ts';
import { wantsJson } from '../../output/json.ts';
import { excerpt } from '../../sanitize.ts';
import { isSecretName } from '../../settings/fields.ts';
import type { SettingName } from '../../settings/names.ts';
import {
  changeProfile,
  type Profile,
  type Profiles,
  profileOf,
  readProfiles,
  without,
  withSetting,
  writeProfiles,
} from '../../settings/profiles.ts';
import { echoed, instead } from '../../suggest.ts';
import type { CompletionLine } from '../completion/completes.ts';
import type { Context } from '../context.ts';
import { command } from '../spec.ts';

/** @throws ConfigError if there is no folder for it */
export function profilesFile({ sources }: Pick<Context, 'sources'>): string {
  if (sources.profilesFile !== null) return sources.profilesFile;
  throw new ConfigError('no folder for profiles: neither a home folder nor RUNGATE_CONFIG_DIR is set', {
    hint: 'set RUNGATE_CONFIG_DIR to a folder that you own',
  });
}

/** Changes the profiles under a lock, so that concurrent changes are not lost. */
export async function changeStore(context: Context, change: (profiles: Profiles) => Profiles): Promise<void> {
  const { io, output } = context;
  const path = profilesFile(context);
  const format = { parse: (text: string) => readProfiles(path, text), write: writeProfiles };
  try {
    const changed = io.stateFile(path).change(format, change);
    await output.motion.during(`waiting for ${excerpt(path)}`, changed);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof RungateError || code === undefined) throw error;
    const remedies: Readonly<Record<string, string>> = {
      ELOCKED: `another rungate process holds ${path}.lock; if none is running, remove that file`,
      EBUSY: 'the file is mounted by itself, so it cannot be replaced: mount its folder instead',
    };
    const hint =
      remedies[code] ?? 'check the permissions of the folder, or set RUNGATE_CONFIG_DIR to another one';
    throw new ConfigError(`cannot write the profile: ${path} (${code})`, { hint, cause: error });
  }
}

/** Prints what has changed in the profile, if the result is JSON. */
export async function printChange(
  { output, settings, sources }: Context,
  saved: readonly SettingName[],
  removed: readonly SettingName[],
): Promise<void> {
  if (!wantsJson(output)) return;
  const overridden = [...saved, ...removed].filter((name) => {
    const { origin = 'default' } = settings[name] ?? {};
    return origin !== 'profile' && origin !== 'default';
  });
  const data = {
    schemaVersion: 1,
    profile: sources.profile.name,
    profilesFile: sources.profilesFile ?? '',
    saved,
    removed,
    overridden,
  };
  await output.data(data, '');
}

export const settingIds: readonly SettingName[] = [...fileIds, ...secretIds];

/** Returns the setting or secret of that name. @throws UsageError with the nearest name */
export function settingName(text: string): SettingName {
  const name = settingIds.find((id) => id === text);
  if (name !== undefined) return name;
  throw new UsageError(`unknown setting ${echoed(text)}`, {
    hint: instead(text, settingIds, `the settings are ${fileIds.join(', ')}`),
  });
}

/** Returns the setting of that name, if `config set` may set it. @throws UsageError for a secret or an unknown name */
function plainName(text: string): FileId {
  if (!isSecretId(text) && !isSecretName(text)) return settingName(text) as FileId;
  throw new UsageError(
    'config set does not accept secrets, because any process could read them on the command line',
    {
      hint: 'type or pipe the secret: rungate login --api-key, --token, --webhook-secret or --tenant-secret; set other secrets in the environment',
    },
  );
}

function parseSetting({ io }: Context, name: FileId, text: string): Profile['settings'] {
  try {
    const value = readValue(name, jsonOf(name, text));
    // A profile is used in every working directory, so its paths are absolute.
    return { [name]: name === 'caFile' ? resolve(io.cwd, String(value)) : value };
  } catch (error) {
    if (error instanceof InvalidValue)
      throw new UsageError(`${name}: ${error.message}`, { hint: error.hint, cause: error });
    throw error;
  }
}

/** Returns the values of the setting on the line, if only some are possible. */
function valuesFor({ operands: [name = ''] }: CompletionLine): readonly string[] {
  if (!isFileId(name)) return [];
  const { type } = rowOf(name);
  return type.kind === 'switch' ? ['true', 'false'] : (type.words ?? []);
}

export const configSet = command({
  name: 'set',
  summary: 'save a setting in your profile',
  description: 'Save a setting in your profile. For secrets, use rungate login.',
  args: {
    '<name>': { help: 'a setting, such as project or timeout', completes: fileIds },
    '<value>': {
      help: 'the value, such as smoke,nightly for tags, or cancelled=fail,timeout=warn for on',
      completes: valuesFor,
    },
  },
  examples: ['rungate config set project shop', 'rungate config set on cancelled=fail,timeout=warn'],
  newProfile: true,
  changesProfile: true,
  async run(context, args) {
    const { settings, sources, output } = context;
    const name = plainName(args.name);
    const setting = parseSetting(context, name, args.value);
    const { profile } = sources;
    await changeStore(context, (profiles) =>
      changeProfile(profiles, profile.name, (old) => withSetting(old, setting)),
    );
    await printChange(context, [name], []);
    await output.note(`saved ${name} in profile ${profile.name}`);
    const { origin = 'default' } = settings[name] ?? {};
    if (origin !== 'profile' && origin !== 'default')
      await output.note(`the ${origin} also sets ${name}, and takes precedence`);
    return exitCodes.ok;
  },
});

export const configUnset = command({
  name: 'unset',
  summary: 'remove a setting or a secret from your profile',
  args: {
    '<name>': {
      help: 'a setting, or apiKey, token, webhookSecrets, tenantSecret',
      completes: [...fileIds, ...secretIds],
    },
  },
  examples: ['rungate config unset apiKey'],
  changesProfile: true,
  async run(context, args) {
    const name = settingName(args.name);
    const { profile } = context.sources;
    let had = false;
    await changeStore(context, (profiles) => {
      const old = profileOf(profiles, profile.name);
      had = old !== undefined && (Object.hasOwn(old.settings, name) || Object.hasOwn(old.secrets, name));
      return had ? changeProfile(profiles, profile.name, (saved) => without(saved, name)) : profiles;
    });
    await printChange(context, [], had ? [name] : []);
    const result = had ? `removed ${name} from` : `${name} was not set in`;
    await context.output.note(`${result} profile ${profile.name}`);
    return exitCodes.ok;
  },
});
