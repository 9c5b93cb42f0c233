import type { Auth } from '../contract/endpoint.ts';
import { ConfigError, CredentialError } from '../errors.ts';
import { commandNames } from '../hint-names.ts';
import { type CredentialKind, unsendable } from './credential-problems.ts';

/** Who we are to the service (interface, section 5); each where an endpoint takes it. */
export interface Credentials {
  apiKey?: string | undefined;
  /** A user session's bearer token. */
  token?: string | undefined;
  /** Which of the two, where the endpoint takes either. Without it: the token if there is one. */
  auth?: 'bearer' | 'key' | undefined;
}

const wanted = { bearer: 'a bearer token', key: 'an API key' } as const;

/** Which credential a call takes; where the endpoint takes either, the one that is chosen or there. */
export function kindFor(auth: Auth, credentials: Credentials): 'bearer' | 'key' {
  if (auth === 'key') return 'key';
  if (auth !== 'either') return 'bearer';
  return credentials.auth ?? (credentials.token || !credentials.apiKey ? 'bearer' : 'key');
}

/**
 * The header that carries the credential an endpoint takes (interface, section 5).
 * @param call the call as a message names it: `GET /api/environments`
 * @throws CredentialError when it is not there or only one of the wrong kind is
 * @throws ConfigError when it cannot stand in a header; the value is never echoed
 */
export function credentialHeader(
  call: string,
  auth: Auth,
  credentials: Credentials,
  names = commandNames,
): Record<string, string> {
  const kind = kindFor(auth, credentials);
  const value = kind === 'key' ? credentials.apiKey : credentials.token;
  if (!value) {
    const other = kind === 'key' ? credentials.token : credentials.apiKey;
    if (auth === 'jwt' && other) {
      throw new CredentialError(`${call} needs a bearer token: an API key cannot manage API keys`, {
        hint: names.give.bearer,
      });
    }
    if (auth === 'either' && !other) {
      throw new CredentialError(`${call} needs a credential, and none is set`, {
        hint: names.give.either,
      });
    }
    const only = other
      ? `, and only ${wanted[kind === 'key' ? 'bearer' : 'key']} is set`
      : ', and none is set';
    throw new CredentialError(`${call} needs ${wanted[kind]}${only}`, { hint: names.give[kind] });
  }
  const [what, setting] =
    kind === 'key' ? (['API key', names.apiKey] as const) : (['bearer token', names.token] as const);
  const found = unsendable(what, value, names);
  if (found !== null) {
    const { problem, hint } = found;
    throw new ConfigError(`${setting} has ${problem}, which cannot be sent in a header`, { hint });
  }
  return kind === 'key' ? { 'x-api-key': value } : { authorization: `Bearer ${value}` };
}

/** Which credential the headers carry; null without one. */
export function credentialIn(
  headers: Readonly<Record<string, string>>,
): { what: CredentialKind; value: string } | null {
  const key = headers['x-api-key'];
  if (key !== undefined) return { what: 'API key', value: key };
  const bearer = headers.authorization;
  if (bearer === undefined) return null;
  return { what: 'bearer token', value: bearer.replace(/^Bearer /, '') };
}
