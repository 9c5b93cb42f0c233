import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { excerpt } from '../../sanitize.ts';
import { isSecretName } from '../../settings/fields.ts';
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

/** The setting of that name, secrets too. @throws UsageError that names the nearest one */
export function settingName(text: string): SettingName {
  const found = allNames.find((name) => name === text);
  if (found !== undefined) return found;
  const near = nearest(text, allNames);
  throw new UsageError(`unknown setting ${echoed(text)}`, {
    hint: near === null ? `the settings are ${plainNames.join(', ')}` : `did you mean ${near}?`,
  });
}

/** A setting that may be written by hand, as secrets are not. */
export function plainName(text: string): (typeof plainNames)[number] {
  if (isPlainName(text)) return text;
  if (isSecretName(text)) {
    throw new UsageError('a secret is no setting: on the command line every process can read it', {
      hint: 'type or pipe it: rungate login --api-key, --token, --webhook-secret or --tenant-secret',
    });
  }
  settingName(text);
  throw new UsageError(`"${excerpt(text, 60)}" cannot be set`);
}

/** One setting from a word of the command line. @throws UsageError */
function parseSetting({ io }: Context, given: string, text: string): Profile['settings'] {
  const name = plainName(given);
  try {
    const value = readValue(name, valueFromArgument(name, text));
    // A profile is used from everywhere, so a path in it must not depend on where we are.
    return { [name]: name === 'caFile' ? resolve(io.cwd, String(value)) : value };
  } catch (error) {
    if (error instanceof InvalidValue)
      throw new UsageError(`${name}: ${error.message}`, { hint: error.hint });
    throw error;
  }
}

/** What is kept in the profile has no effect while something stronger says otherwise. */
async function speakOfStronger({ settings, output }: Context, given: string): Promise<void> {
  const setting = settings[settingName(given)];
  if (setting === undefined || setting.origin === 'profile' || setting.origin === 'default') return;
  await output.note(`the ${setting.origin} gives ${given} as well, and comes first`);
}

/** `rungate config set` */
export async function setCommand(context: Context, given: string, text: string): Promise<number> {
  const setting = parseSetting(context, given, text);
  const { name } = context.sources.profile;
  await changeStore(context, (profiles) =>
    changeProfile(profiles, name, (profile) => withSetting(profile, setting)),
  );
  await context.output.note(`${given} is kept in profile ${name}`);
  await speakOfStronger(context, given);
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
  const line = had ? 'is no longer kept in' : 'was not in';
  await context.output.note(`${name} ${line} profile ${profile.name}`);
  return exitCodes.ok;
}
