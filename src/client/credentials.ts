import type { Auth } from '../contract/endpoint.ts';
import { ConfigError, CredentialError } from '../errors.ts';
import { commandNames, type HintNames } from '../hint-names.ts';

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
 * @throws CredentialError when it is not there or only one of the wrong kind is
 * @throws ConfigError when it cannot stand in a header; the value is never echoed
 */
export function credentialHeader(
  name: string,
  auth: Auth,
  credentials: Credentials,
  names = commandNames,
): Record<string, string> {
  const kind = kindFor(auth, credentials);
  const value = kind === 'key' ? credentials.apiKey : credentials.token;
  if (!value) {
    const other = kind === 'key' ? credentials.token : credentials.apiKey;
    if (auth === 'jwt' && other) {
      throw new CredentialError(`${name}: an API key cannot manage API keys`, { hint: names.give.bearer });
    }
    if (auth === 'either' && !other) {
      throw new CredentialError(`${name} needs a credential, and none is set`, {
        hint: names.give.either,
      });
    }
    const only = other
      ? `, and only ${wanted[kind === 'key' ? 'bearer' : 'key']} is set`
      : ', and none is set';
    throw new CredentialError(`${name} needs ${wanted[kind]}${only}`, { hint: names.give[kind] });
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    const setting = kind === 'key' ? names.apiKey : names.token;
    throw new ConfigError(`the value of ${setting} has a character that cannot be sent in a header`, {
      hint: 'a space, a line break or a "Bearer" in front is often copied along: give the bare value',
    });
  }
  return kind === 'key' ? { 'x-api-key': value } : { authorization: `Bearer ${value}` };
}

/** Which credential the headers carry; null without one. */
export function credentialIn(
  headers: Readonly<Record<string, string>>,
): { what: 'API key' | 'bearer token'; value: string } | null {
  const key = headers['x-api-key'];
  if (key !== undefined) return { what: 'API key', value: key };
  const bearer = headers.authorization;
  if (bearer === undefined) return null;
  return { what: 'bearer token', value: bearer.replace(/^Bearer /, '') };
}

/** A JSON Web Token, which a user session's token is at most services and an API key at none. */
const jwt = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;

/** What a refused credential looks as if it were, where that is the other one; null where it does not. */
export function swapped(what: 'API key' | 'bearer token', value: string, names: HintNames): string | null {
  if (what === 'API key')
    return jwt.test(value) ? `what is set there looks like a token: ${names.token} is for it` : null;
  return /^[a-z]{2,8}_(live_|test_)?\w{16,}$/i.test(value)
    ? `what is set there looks like an API key: ${names.apiKey} is for it`
    : null;
}
