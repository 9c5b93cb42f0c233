import type { Auth } from '../contract/endpoint.ts';
import { ConfigError, CredentialError } from '../errors.ts';

/** Who we are to the service (interface, section 5); each where an endpoint takes it. */
export interface Credentials {
  apiKey?: string | undefined;
  /** A user session's bearer token. */
  token?: string | undefined;
  /** Which of the two, where the endpoint takes either. Without it: the token if there is one. */
  auth?: 'bearer' | 'key' | undefined;
}

const wanted = {
  bearer: {
    hint: 'set RUNGATE_TOKEN to the bearer token of a user session, or RUNGATE_TOKEN_FILE to its file, or keep it: rungate login --token',
    what: 'a bearer token',
  },
  key: {
    hint: 'set RUNGATE_API_KEY to an API key of the service, or RUNGATE_API_KEY_FILE to its file, or keep it: rungate login',
    what: 'an API key',
  },
} as const;

function kindFor(auth: Auth, credentials: Credentials): 'bearer' | 'key' {
  if (auth === 'key') return 'key';
  if (auth !== 'either') return 'bearer';
  return credentials.auth ?? (credentials.token || !credentials.apiKey ? 'bearer' : 'key');
}

/**
 * The header that carries the credential an endpoint takes (interface, section 5).
 * @throws CredentialError when it is not there or only one of the wrong kind is
 * @throws ConfigError when it cannot stand in a header; the value is never echoed
 */
export function credentialHeader(name: string, auth: Auth, credentials: Credentials): Record<string, string> {
  const kind = kindFor(auth, credentials);
  const value = kind === 'key' ? credentials.apiKey : credentials.token;
  if (!value) {
    const other = kind === 'key' ? credentials.token : credentials.apiKey;
    if (auth === 'jwt' && other) {
      throw new CredentialError(`${name}: an API key cannot manage API keys`, { hint: wanted.bearer.hint });
    }
    if (auth === 'either' && !other) {
      throw new CredentialError(`${name} needs a credential, and none is set`, {
        hint: 'set RUNGATE_TOKEN or RUNGATE_API_KEY, or either with _FILE to its file, or keep one: rungate login',
      });
    }
    const only = other
      ? `, and only ${wanted[kind === 'key' ? 'bearer' : 'key'].what} is set`
      : ', and none is set';
    throw new CredentialError(`${name} needs ${wanted[kind].what}${only}`, { hint: wanted[kind].hint });
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    const variable = kind === 'key' ? 'RUNGATE_API_KEY' : 'RUNGATE_TOKEN';
    throw new ConfigError(`the value of ${variable} has a character that cannot be sent in a header`, {
      hint: 'a space, a line break or a "Bearer" in front is often copied along: give the bare value',
    });
  }
  return kind === 'key' ? { 'x-api-key': value } : { authorization: `Bearer ${value}` };
}

/** Which credential the headers carry, and the name of its setting; null without one. */
export function credentialIn(
  headers: Readonly<Record<string, string>>,
): { what: 'API key' | 'bearer token'; variable: string; value: string } | null {
  const key = headers['x-api-key'];
  if (key !== undefined) return { what: 'API key', variable: 'RUNGATE_API_KEY', value: key };
  const bearer = headers.authorization;
  if (bearer === undefined) return null;
  return { what: 'bearer token', variable: 'RUNGATE_TOKEN', value: bearer.replace(/^Bearer /, '') };
}

/** A JSON Web Token, which a user session's token is at most services and an API key at none. */
const jwt = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;

/** What a refused credential looks as if it were, where that is the other one; null where it does not. */
export function swapped(what: 'API key' | 'bearer token', value: string): string | null {
  if (what === 'API key')
    return jwt.test(value) ? 'what is set there looks like a token: RUNGATE_TOKEN is for it' : null;
  return /^[a-z]{2,8}_(live_|test_)?\w{16,}$/i.test(value)
    ? 'what is set there looks like an API key: RUNGATE_API_KEY is for it'
    : null;
}
