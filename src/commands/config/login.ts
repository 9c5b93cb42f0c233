import { isDeepStrictEqual } from 'node:util';
import { unsendable } from '../../client/credential-problems.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Flags } from '../../options/table.ts';
import { linesIn } from '../../options/types.ts';
import { parseUrl } from '../../parse-url.ts';
import { sanitize } from '../../sanitize.ts';
import { changeProfile, type Profile, without, withSecret, withSetting } from '../../settings/profiles.ts';
import { checkedAddress } from '../connect.ts';
import type { Context } from '../context.ts';
import { checkCredential, refusedHint } from '../doctor/probes.ts';
import { warnOfFolder } from '../secret-files.ts';
import { command, under } from '../spec.ts';
import { changeStore, printChange, profilesFile } from './change.ts';

const secretKinds = {
  apiKey: { flag: '--api-key', name: 'apiKey', what: 'API key' },
  token: { flag: '--token', name: 'token', what: 'bearer token' },
  webhookSecret: { flag: '--webhook-secret', name: 'webhookSecrets', what: 'webhook secret' },
  tenantSecret: { flag: '--tenant-secret', name: 'tenantSecret', what: 'tenant secret' },
} as const;
type SecretKind = keyof typeof secretKinds;
const allKinds = Object.keys(secretKinds) as SecretKind[];

type KindFlags = { readonly [Kind in SecretKind]?: boolean };
const namedKinds = (flags: KindFlags) => allKinds.filter((kind) => flags[kind] === true);

async function logoutCommand(context: Context, _args: unknown, flags: KindFlags): Promise<number> {
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
  await printChange(
    context,
    [],
    gone.map((kind) => secretKinds[kind].name),
  );
  for (const kind of chosen) {
    const remaining = settings[secretKinds[kind].name];
    if (remaining?.origin === 'environment')
      await output.note(`${remaining.detail} is still set, and rungate still uses it`);
  }
  return exitCodes.ok;
}

export const logout = command({
  name: 'logout',
  summary: 'remove secrets from your profile',
  heading: 'Settings:',
  description:
    'Remove secrets from your profile: all of them, or those that you name. Settings remain, and nothing is sent: a key stays valid until you delete it with rungate keys delete.',
  options: under('Which secrets (default: all):', {
    '--api-key': 'the API key',
    '--token': 'the bearer token',
    '--webhook-secret': 'the webhook secrets',
    '--tenant-secret': 'the tenant secret',
  }),
  examples: ['rungate logout', 'rungate logout --token'],
  changesProfile: true,
  run: logoutCommand,
});

type LoginFlags = Flags & KindFlags & { readonly check?: boolean };

function chosenKind(flags: LoginFlags): SecretKind {
  const chosen = namedKinds(flags);
  if (chosen.length > 1) {
    const flagNames = chosen.map((kind) => secretKinds[kind].flag).join(' and ');
    throw new UsageError(`${flagNames} cannot be combined`, {
      hint: 'run rungate login once for each secret',
    });
  }
  return chosen[0] ?? 'apiKey';
}

/** Never the project file's: a repository must not be able to tie a typed key to a URL of its choice. */
function service({ settings: { apiUrl }, nameOf }: Context, flags: LoginFlags): URL {
  if (apiUrl !== undefined && apiUrl.origin !== 'project file')
    return checkedAddress(apiUrl, flags.insecureHttp, nameOf);
  const fileUrl = apiUrl && sanitize(apiUrl.value);
  const other = apiUrl && `; the project file names ${fileUrl}, but login needs your confirmation`;
  throw new UsageError(`no service given${other ?? ''}`, { hint: 'give --api-url <url>' });
}

/** Reads the typed or piped secret, without its trailing newline. */
async function readSecretText({ io }: Context, question: string): Promise<string> {
  const typed = await io.askSecret(question);
  const text = typed ?? new TextDecoder().decode(await io.readStdin()).replace(/\r?\n$/, '');
  if (text.trim() !== '') return text;
  throw new UsageError(typed === null ? 'standard input is empty' : 'no secret was typed', {
    hint: 'pipe the secret (rungate login < file), or type it at the prompt',
  });
}

/** @throws HttpError if the service refuses the credential */
async function checkedCredential(context: Context, kind: 'apiKey' | 'token', secret: string) {
  const state = await checkCredential(await context.connectAs(kind, secret), kind);
  if (state.kind !== 'refused') return state;
  state.error.hint = refusedHint(kind, state.error);
  throw state.error;
}

/** Returns a warning, as a predicate that follows the name of the credential, or null if the service accepts it. */
function warningFor(state: Awaited<ReturnType<typeof checkedCredential>>): string | null {
  if (state.kind === 'unchecked') return `could not be checked: ${sanitize(state.error.message)}`;
  return state.denied === null ? null : `has limited access: ${sanitize(state.denied.message)}`;
}

/** Saves one secret in the profile. A credential is tied to its service, and not saved if that refuses it. */
async function loginCommand(context: Context, _args: unknown, flags: LoginFlags): Promise<number> {
  const { output } = context;
  const kind = chosenKind(flags);
  const { name, what } = secretKinds[kind];
  const { profile } = context.sources;
  const path = profilesFile(context);
  const isSent = kind === 'apiKey' || kind === 'token';
  const url = isSent ? service(context, flags) : null;
  const secret = await readSecretText(context, `${what}${url === null ? '' : ` for ${url.origin}`}: `);
  const update = profileUpdate(context, kind, secret, url);
  const state = isSent && flags.check !== false ? await checkedCredential(context, kind, secret) : null;
  let replaced: string[] = [];
  await changeStore(context, (profiles) =>
    changeProfile(profiles, profile.name, (old) => {
      const updated = update(old);
      replaced = replacedParts(kind, old, updated);
      if (state?.kind !== 'unchecked' || replaced.length === 0) return updated;
      const { error } = state;
      const kept = `nothing was saved, and profile ${profile.name} keeps ${replaced.join(' and ')}`;
      const why = error.hint === undefined ? '' : `; ${error.hint}`;
      error.hint = `${kept}${why}; --no-check saves the new one unchecked, --profile <name> saves it in another profile`;
      throw error;
    }),
  );
  await printChange(context, [name], []);
  const warning = state && warningFor(state);
  const purpose = url === null ? '' : ` for ${url.origin}`;
  const accepted = state !== null && warning === null ? '; the service accepts it' : '';
  await output.note(`saved the ${what}${purpose} in profile ${profile.name}: ${sanitize(path)}${accepted}`);
  // Only this user and administrators can read the usual folder, %APPDATA%.
  if (context.io.env.RUNGATE_CONFIG_DIR?.trim()) await warnOfFolder(context, path);
  if (warning !== null)
    await output.warn(`the ${what} ${warning}`, 'it was saved anyway; run rungate doctor to check it again');
  if (replaced.length > 0) {
    await output.note(`profile ${profile.name} no longer has ${replaced.join(' and ')}`);
    await output.note('  → to keep several, use a profile for each: rungate login --profile <name>');
  }
  const stronger = context.settings[name];
  if (stronger?.origin === 'environment') {
    await output.note(`${stronger.detail} is also set, and takes precedence`);
  }
  return exitCodes.ok;
}

export const login = command({
  name: 'login',
  summary: 'save an API key or a token in your profile',
  heading: 'Settings:',
  description:
    'Save a secret in your profile on this machine. rungate prompts for it without showing it, or reads it from standard input. It does not save an API key or a token that the service refuses (exit code 6).',
  options: {
    ...under('Which secret:', {
      '--api-key': 'an API key (the default)',
      '--token': 'the bearer token of a user session',
      '--webhook-secret':
        'the secret that signs deliveries; during a rotation, several secrets, one per line',
      '--tenant-secret': "the tenant's secret that signs deliveries",
    }),
    '--no-check': 'save an API key or a token without checking it',
  },
  examples: [
    'rungate login --api-url https://service.example.com  # prompts for the key',
    'printf %s "$RUNGATE_API_KEY" \\\n  | rungate login --api-url https://service.example.com',
  ],
  newProfile: true,
  changesProfile: true,
  run: loginCommand,
});

function replacedParts(kind: SecretKind, old: Profile, updated: Profile): string[] {
  const { name, what } = secretKinds[kind];
  const secret = old.secrets[name];
  const { apiUrl } = old.settings;
  const replaced: string[] = [];
  if (secret !== undefined && !isDeepStrictEqual(secret, updated.secrets[name])) {
    const bound = typeof secret === 'object' && 'origin' in secret;
    replaced.push(`the ${bound ? `${what} for ${sanitize(secret.origin)}` : `previous ${what}`}`);
  }
  const address = (url = '') => parseUrl(url)?.href;
  if (apiUrl !== undefined && address(apiUrl) !== address(updated.settings.apiUrl))
    replaced.push(`the apiUrl ${sanitize(apiUrl)}`);
  return replaced;
}

/** Returns the change to the profile. A credential is tied to the scheme, host and port of its service. */
function profileUpdate({ settings, nameOf }: Context, kind: SecretKind, secret: string, url: URL | null) {
  if (kind === 'webhookSecret') return (old: Profile) => withSecret(old, 'webhookSecrets', linesIn(secret));
  if (kind === 'tenantSecret' || url === null)
    return (old: Profile) => withSecret(old, 'tenantSecret', secret);
  const { what } = secretKinds[kind];
  const unusable = unsendable(what, secret, nameOf);
  if (unusable !== null) {
    const { problem, hint } = unusable;
    throw new UsageError(`the ${what} has ${problem}, which cannot be sent in a header`, { hint });
  }
  const bound = { value: secret, origin: url.origin };
  const apiUrl = settings.apiUrl?.value ?? url.href;
  return (old: Profile) => withSetting(withSecret(old, kind, bound), { apiUrl: apiUrl.trim() });
}
