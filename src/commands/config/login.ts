import { isDeepStrictEqual } from 'node:util';
import { type CredentialKind, unsendable } from '../../client/odd-credential.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { commandNames } from '../../hint-names.ts';
import { parseUrl } from '../../parse-url.ts';
import { sanitize } from '../../sanitize.ts';
import { changeProfile, type Profile, withSecret, withSetting } from '../../settings/profiles.ts';
import { parseApiUrl } from '../../transport/address.ts';
import type { Context } from '../context.ts';
import { type KindFlags, namedKinds, type SecretKind, secretKinds } from './secret-options.ts';
import { changeStore, profilesFile } from './store.ts';

export interface LoginFlags extends KindFlags {
  insecureHttp?: boolean;
}

function chosenKind(flags: LoginFlags): SecretKind {
  const chosen = namedKinds(flags);
  if (chosen.length > 1) {
    const given = chosen.map((kind) => secretKinds[kind].flag).join(' and ');
    throw new UsageError(`${given}: one secret at a time`, { hint: 'call rungate login once for each' });
  }
  return chosen[0] ?? 'apiKey';
}

/**
 * The service that a credential is given for. Not what a project file says: a repository must not have a key that its
 * reader types in kept for an address of its own.
 */
function service({ settings: { apiUrl } }: Context, flags: LoginFlags): URL {
  if (apiUrl !== undefined && apiUrl.origin !== 'project file') {
    try {
      return parseApiUrl(apiUrl.value, flags.insecureHttp);
    } catch (error) {
      if (!(error instanceof ConfigError) || apiUrl.origin !== 'flag') throw error;
      throw new UsageError(`--api-url: ${error.message}`, { hint: error.hint, cause: error });
    }
  }
  const found =
    apiUrl === undefined
      ? ''
      : `; the project file says ${sanitize(apiUrl.value)}, which is yours to confirm`;
  throw new UsageError(`nothing says which service this is for${found}`, { hint: 'give --api-url <url>' });
}

/** What was typed or piped, without the newline at its end. */
async function readSecretText({ io }: Context, question: string): Promise<string> {
  const typed = await io.askSecret(question);
  const text = typed ?? new TextDecoder().decode(await io.readStdin()).replace(/\r?\n$/, '');
  if (text.trim() !== '') return text;
  throw new UsageError(typed === null ? 'nothing came on standard input' : 'nothing was typed', {
    hint: 'pipe the secret: rungate login < file; or type it when asked',
  });
}

/** @throws UsageError that does not repeat it */
function checkHeaderValue(what: CredentialKind, secret: string): string {
  const found = unsendable(what, secret, commandNames);
  if (found === null) return secret;
  const { problem, hint } = found;
  throw new UsageError(`the ${what} has ${problem}, which cannot be sent in a header`, { hint });
}

/**
 * Asks the service about a credential. Returns what a person should know of its answer, in words that follow the name of
 * the credential, or null if the service accepts it.
 * @throws HttpError if the service refuses it
 */
async function doubtOf(context: Context, kind: 'apiKey' | 'token', secret: string): Promise<string | null> {
  const { checkCredential, refusedHint } = await import('./credential-check.ts');
  const state = await checkCredential(await context.connectAs(kind, secret), kind);
  if (state.kind === 'unchecked') return `could not be checked: ${sanitize(state.error.message)}`;
  if (state.kind === 'accepted')
    return state.denied === null ? null : `has few rights: ${sanitize(state.denied.message)}`;
  state.error.hint = refusedHint(kind, state.error);
  throw state.error;
}

/** `rungate login`: keeps one secret in the profile; one that is sent, for one service, unless that refuses it. */
export async function loginCommand(context: Context, flags: LoginFlags): Promise<number> {
  const { output } = context;
  const kind = chosenKind(flags);
  const { name, what } = secretKinds[kind];
  const { profile } = context.sources;
  const path = profilesFile(context);
  const isSent = kind === 'apiKey' || kind === 'token';
  const url = isSent ? service(context, flags) : null;
  const secret = await readSecretText(context, `${what}${url === null ? '' : ` for ${url.origin}`}: `);
  const keep = keeping(kind, secret, url, context.settings.apiUrl?.value);
  const doubt = isSent ? await doubtOf(context, kind, secret) : null;
  let lost: string[] = [];
  await changeStore(context, (profiles) =>
    changeProfile(profiles, profile.name, (old) => {
      const now = keep(old);
      lost = lostOf(kind, old, now);
      return now;
    }),
  );
  const purpose = url === null ? '' : ` for ${url.origin}`;
  const accepted = isSent && doubt === null ? '; the service accepts it' : '';
  await output.note(`the ${what}${purpose} is kept in profile ${profile.name}: ${sanitize(path)}${accepted}`);
  if (doubt !== null) {
    await output.alert(`${output.paint('warn', 'warning:')} the ${what} ${doubt}`);
    await output.alert('  → it is kept; rungate doctor checks it again');
  }
  await speakOfLost(context, lost, doubt !== null);
  const stronger = context.settings[name];
  if (stronger?.origin === 'environment') {
    await output.note(`${stronger.detail} is set as well, and comes first`);
  }
  return exitCodes.ok;
}

/** What the profile had and has no more. */
function lostOf(kind: SecretKind, old: Profile, now: Profile): string[] {
  const { name, what } = secretKinds[kind];
  const secret = old.secrets[name];
  const { apiUrl } = old.settings;
  const lost: string[] = [];
  if (secret !== undefined && !isDeepStrictEqual(secret, now.secrets[name])) {
    const bound = typeof secret === 'object' && 'origin' in secret;
    lost.push(`the ${what} ${bound ? `for ${sanitize(secret.origin)}` : 'that it had'}`);
  }
  const address = (url = '') => parseUrl(url)?.href;
  if (apiUrl !== undefined && address(apiUrl) !== address(now.settings.apiUrl))
    lost.push(`the apiUrl ${sanitize(apiUrl)}`);
  return lost;
}

/** Says what was overwritten; it must not be missed where nobody knows whether the new credential is right. */
async function speakOfLost({ output, sources }: Context, lost: readonly string[], isLoud: boolean) {
  if (lost.length === 0) return;
  const say = isLoud ? output.alert : output.note;
  const mark = isLoud ? `${output.paint('warn', 'warning:')} ` : '';
  await say(`${mark}profile ${sources.profile.name} no longer has ${lost.join(' and ')}`);
  await say('  → to keep several, name a profile for each: rungate login --profile <name>');
}

/** What becomes of the profile; a secret that is sent is tied to the host of its service. */
function keeping(kind: SecretKind, secret: string, url: URL | null, apiUrl = url?.href ?? '') {
  if (kind === 'webhookSecret') {
    return (old: Profile) => withSecret(old, 'webhookSecrets', lines(secret));
  }
  if (kind === 'tenantSecret' || url === null) {
    return (old: Profile) => withSecret(old, 'tenantSecret', secret);
  }
  const value = checkHeaderValue(secretKinds[kind].what, secret);
  return (old: Profile) =>
    withSetting(withSecret(old, kind, { value, origin: url.origin }), { apiUrl: apiUrl.trim() });
}

function lines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '');
}
