import type { Auth } from '../contract/endpoint.ts';
import { ConfigError, CredentialError, type NameOf } from '../errors.ts';
import type { LibraryOptions } from '../options/library-options.ts';
import { type CredentialKind, unsendable } from './credential-problems.ts';

/** The credentials of a client; each endpoint accepts one kind of them. */
export type Credentials = Pick<LibraryOptions, 'apiKey' | 'token' | 'auth'>;

const kindNames = { bearer: 'a bearer token', key: 'an API key' } as const;

/** Returns the kind of credential for a call: if the endpoint accepts either, the chosen one or the one that is set. */
export function kindFor(auth: Auth, credentials: Credentials): 'bearer' | 'key' {
  if (auth === 'key') return 'key';
  if (auth !== 'either') return 'bearer';
  return credentials.auth ?? (credentials.token || !credentials.apiKey ? 'bearer' : 'key');
}

/**
 * Returns the header with the credential of a call.
 * @param call the request as the user knows it: `GET /api/environments`
 * @throws CredentialError if the credential is not set, or only one of the wrong kind
 * @throws ConfigError if a header cannot contain it; the error never shows the value
 */
export function credentialHeader(
  call: string,
  auth: Auth,
  credentials: Credentials & { nameOf: NameOf },
): Record<string, string> {
  const { nameOf } = credentials;
  const kind = kindFor(auth, credentials);
  const value = kind === 'key' ? credentials.apiKey : credentials.token;
  if (!value) {
    const other = kind === 'key' ? credentials.token : credentials.apiKey;
    const missing = (needed: string, give: 'bearer' | 'key' | 'either' = kind) =>
      new CredentialError(`${call} needs ${needed}`, { hint: nameOf(`give.${give}`) });
    if (auth === 'jwt' && other) throw missing('a bearer token: an API key cannot manage API keys');
    if (auth === 'either' && !other) throw missing('a credential, but none is set', 'either');
    const set = other ? `only ${kindNames[kind === 'key' ? 'bearer' : 'key']}` : 'none';
    throw missing(`${kindNames[kind]}, but ${set} is set`);
  }
  const [what, setting] =
    kind === 'key' ? (['API key', 'apiKey'] as const) : (['bearer token', 'token'] as const);
  const mistake = unsendable(what, value, nameOf);
  if (mistake !== null) {
    const { problem, hint } = mistake;
    throw new ConfigError(`${nameOf(setting)} has ${problem}, which cannot be sent in a header`, {
      hint,
    });
  }
  return kind === 'key' ? { 'x-api-key': value } : { authorization: `Bearer ${value}` };
}

export function credentialIn(
  headers: Readonly<Record<string, string>>,
): { what: CredentialKind; value: string } | null {
  const key = headers['x-api-key'];
  if (key !== undefined) return { what: 'API key', value: key };
  const bearer = headers.authorization;
  if (bearer === undefined) return null;
  return { what: 'bearer token', value: bearer.replace(/^Bearer /, '') };
}
