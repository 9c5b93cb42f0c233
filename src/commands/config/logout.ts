import { exitCodes } from '../../exit.ts';
import { sanitize } from '../../sanitize.ts';
import { changeProfile, type Profile, without } from '../../settings/profiles.ts';
import type { Context } from '../context.ts';
import { type KindFlags, namedKinds, type SecretKind, secretKinds } from './secret-options.ts';
import { changeStore } from './store.ts';

const allKinds = Object.keys(secretKinds) as SecretKind[];

/** `rungate logout`: removes secrets from the profile, all of them if no option names one. Settings remain. */
export async function logoutCommand(context: Context, flags: KindFlags): Promise<number> {
  const { output, settings, sources } = context;
  const { name } = sources.profile;
  const named = namedKinds(flags);
  const chosen = named.length === 0 ? allKinds : named;
  const gone = chosen.filter((kind) => sources.kept.includes(secretKinds[kind].name));
  if (gone.length === 0) {
    const what = named.length === 0 ? 'no secrets' : 'no such secret';
    await output.note(`profile ${name} has ${what}`);
  } else {
    const removed = (old: Profile) => gone.reduce((rest, kind) => without(rest, secretKinds[kind].name), old);
    await changeStore(context, (profiles) => changeProfile(profiles, name, removed));
    const what = new Intl.ListFormat('en').format(gone.map((kind) => `the ${secretKinds[kind].what}`));
    await output.note(`removed ${what} from profile ${name}: ${sanitize(sources.profilesFile ?? '')}`);
    if (gone.includes('apiKey'))
      await output.note('the API key stays valid until you delete it: rungate keys delete <id>');
  }
  for (const kind of chosen) {
    const left = settings[secretKinds[kind].name];
    if (left?.origin === 'environment')
      await output.note(`${left.detail} is still set, and rungate still uses it`);
  }
  return exitCodes.ok;
}
