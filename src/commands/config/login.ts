import { ConfigError, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { sanitize } from '../../sanitize.ts';
import { changeProfile, type Profile, withSecret, withSetting } from '../../settings/profiles.ts';
import { parseApiUrl } from '../../transport/address.ts';
import type { Context } from '../context.ts';
import { changeStore, profilesFile } from './store.ts';

export interface LoginFlags {
  apiKey?: boolean;
  token?: boolean;
  webhookSecret?: boolean;
  tenantSecret?: boolean;
  insecureHttp?: boolean;
}

const kinds = {
  apiKey: { flag: '--api-key', name: 'apiKey', what: 'API key', sent: true },
  token: { flag: '--token', name: 'token', what: 'bearer token', sent: true },
  webhookSecret: { flag: '--webhook-secret', name: 'webhookSecrets', what: 'webhook secret', sent: false },
  tenantSecret: { flag: '--tenant-secret', name: 'tenantSecret', what: 'tenant secret', sent: false },
} as const;
type Kind = keyof typeof kinds;

function chosenKind(flags: LoginFlags): Kind {
  const chosen = (Object.keys(kinds) as Kind[]).filter((kind) => flags[kind] === true);
  if (chosen.length > 1) {
    const given = chosen.map((kind) => kinds[kind].flag).join(' and ');
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
function checkHeaderValue(what: string, secret: string): string {
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new UsageError(`that is no ${what}: it has a character that cannot be sent in a header`, {
    hint: 'a space, a line break or a "Bearer" in front is often copied along: give the bare value',
  });
}

/** `rungate login`: keeps one secret in the profile, for one service where it is one that is sent. */
export async function loginCommand(context: Context, flags: LoginFlags): Promise<number> {
  const kind = chosenKind(flags);
  const { name, what, sent } = kinds[kind];
  const { profile } = context.sources;
  const path = profilesFile(context);
  const url = sent ? service(context, flags) : null;
  const secret = await readSecretText(context, `${what}${url === null ? '' : ` for ${url.origin}`}: `);
  const keep = keeping(kind, secret, url, context.settings.apiUrl?.value);
  await changeStore(context, (profiles) => changeProfile(profiles, profile.name, keep));
  const purpose = url === null ? '' : ` for ${url.origin}`;
  await context.output.note(`the ${what}${purpose} is kept in profile ${profile.name}: ${sanitize(path)}`);
  const stronger = context.settings[name];
  if (stronger?.origin === 'environment') {
    await context.output.note(`${stronger.detail} is set as well, and comes first`);
  }
  return exitCodes.ok;
}

/** What becomes of the profile; a secret that is sent is tied to the host of its service. */
function keeping(kind: Kind, secret: string, url: URL | null, apiUrl = url?.href ?? '') {
  if (kind === 'webhookSecret') {
    return (old: Profile) => withSecret(old, 'webhookSecrets', lines(secret));
  }
  if (kind === 'tenantSecret' || url === null) {
    return (old: Profile) => withSecret(old, 'tenantSecret', secret);
  }
  const value = checkHeaderValue(kinds[kind].what, secret);
  return (old: Profile) =>
    withSetting(withSecret(old, kind, { value, origin: url.origin }), { apiUrl: apiUrl.trim() });
}

function lines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '');
}
