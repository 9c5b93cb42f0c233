import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { excerpt } from '../../sanitize.ts';
import { environmentHint, isSecretName } from '../../settings/fields.ts';
import { type SettingName, secretNames } from '../../settings/names.ts';
import { changeProfile, type Profile, profileOf, without, withSetting } from '../../settings/profiles.ts';
import { isPlainName, plainNames, readValue, valueFromArgument } from '../../settings/table.ts';
import { InvalidValue } from '../../settings/value-types.ts';
import { echoed, nearest } from '../../suggest.ts';
import type { Context } from '../context.ts';
import { changeStore } from './store.ts';

export const allNames: readonly SettingName[] = [...plainNames, ...secretNames];

export function isSecret(name: SettingName): boolean {
  return (secretNames as readonly string[]).includes(name);
}

/** Returns the setting or secret of that name. @throws UsageError with the nearest name */
export function settingName(text: string): SettingName {
  const found = allNames.find((name) => name === text);
  if (found !== undefined) return found;
  const near = nearest(text, allNames);
  throw new UsageError(`unknown setting ${echoed(text)}`, {
    hint: near === null ? `the settings are ${plainNames.join(', ')}` : `did you mean ${near}?`,
  });
}

/** Returns the setting of that name, if `config set` may set it. @throws UsageError for a secret or an unknown name */
export function plainName(text: string): (typeof plainNames)[number] {
  if (isPlainName(text)) return text;
  if (isSecretName(text)) {
    throw new UsageError(
      'config set does not accept secrets, because any process could read them on the command line',
      {
        hint:
          environmentHint(text) ??
          'type or pipe the secret: rungate login --api-key, --token, --webhook-secret or --tenant-secret',
      },
    );
  }
  settingName(text);
  throw new UsageError(`"${excerpt(text, 60)}" cannot be set`);
}

/** Reads one setting from the command line. @throws UsageError */
function parseSetting({ io }: Context, given: string, text: string): Profile['settings'] {
  const name = plainName(given);
  try {
    const value = readValue(name, valueFromArgument(name, text));
    // A profile is used in every working directory, so its paths are absolute.
    return { [name]: name === 'caFile' ? resolve(io.cwd, String(value)) : value };
  } catch (error) {
    if (error instanceof InvalidValue)
      throw new UsageError(`${name}: ${error.message}`, { hint: error.hint });
    throw error;
  }
}

/** Notes that a stronger source overrides the setting in the profile. */
async function noteStrongerSource({ settings, output }: Context, given: string): Promise<void> {
  const setting = settings[settingName(given)];
  if (setting === undefined || setting.origin === 'profile' || setting.origin === 'default') return;
  await output.note(`the ${setting.origin} also sets ${given}, and takes precedence`);
}

/** `rungate config set` */
export async function setCommand(context: Context, given: string, text: string): Promise<number> {
  const setting = parseSetting(context, given, text);
  const { name } = context.sources.profile;
  await changeStore(context, (profiles) =>
    changeProfile(profiles, name, (profile) => withSetting(profile, setting)),
  );
  await context.output.note(`saved ${given} in profile ${name}`);
  await noteStrongerSource(context, given);
  return exitCodes.ok;
}

/** `rungate config unset` */
export async function unsetCommand(context: Context, given: string): Promise<number> {
  const name = settingName(given);
  const { profile } = context.sources;
  let had = false;
  await changeStore(context, (profiles) => {
    const old = profileOf(profiles, profile.name);
    had = old !== undefined && (Object.hasOwn(old.settings, name) || Object.hasOwn(old.secrets, name));
    return had ? changeProfile(profiles, profile.name, (one) => without(one, name)) : profiles;
  });
  const text = had ? `removed ${name} from` : `${name} was not set in`;
  await context.output.note(`${text} profile ${profile.name}`);
  return exitCodes.ok;
}
