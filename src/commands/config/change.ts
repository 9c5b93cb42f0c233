import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { UnfitValue } from '../../settings/kinds.ts';
import { changeProfile, type Profile, profileOf, without, withSetting } from '../../settings/profiles.ts';
import { readValue, settingsTable } from '../../settings/table.ts';
import type { Context } from '../context.ts';
import { plainName, settingName } from './names.ts';
import { changeStore } from './store.ts';

/** One setting from a word of the command line. @throws UsageError */
function parseSetting({ io }: Context, given: string, text: string): Profile['settings'] {
  const name = plainName(given);
  try {
    const value = readValue(name, settingsTable[name].kind.json(text));
    // A profile is used from everywhere, so a path in it must not depend on where we are.
    return { [name]: name === 'caFile' ? resolve(io.cwd, String(value)) : value };
  } catch (error) {
    if (error instanceof UnfitValue) throw new UsageError(`${name}: ${error.message}`);
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
