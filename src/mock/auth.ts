import { randomBytes } from 'node:crypto';
import type { Auth } from '../contract/endpoint.ts';
import type { EndpointName } from '../contract/index.ts';
import { seededDraw } from './random.ts';
import { MockError } from './response.ts';
import type { Credential } from './state.ts';

const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a bearer token shaped like a JWT. Its signature is random: the mock looks tokens up. */
function tokenOf(user: string, signature: string): string {
  const claims = { sub: `user_${user}`, tenant: 'tenant_1', iat: 1_767_225_600, exp: 4_102_444_800 };
  return `${json({ alg: 'HS256', typ: 'JWT' })}.${json(claims)}.${signature}`;
}

/** Returns an API key and a bearer token shaped like real ones, so that tests for leaks use real shapes. */
export function seededCredentials(seed: number): { apiKey: string; token: string } {
  const text = seededDraw(seed, 'token');
  const apiKey = `rg_${seededDraw(seed, 'api key').token(40)}`;
  return { apiKey, token: tokenOf(text.id(12), text.token(43)) };
}

/** Returns random credentials, which cannot be derived from a seed. */
export function newCredentials(): ReturnType<typeof seededCredentials> {
  const apiKey = `rg_${randomBytes(20).toString('hex')}`;
  return { apiKey, token: tokenOf(randomBytes(6).toString('hex'), randomBytes(32).toString('base64url')) };
}

type Headers = Readonly<Record<string, string>>;

const requirements: Record<Auth, string> = {
  bearer: 'this endpoint needs a bearer token in Authorization: Bearer <token>',
  jwt: 'this endpoint needs a bearer token in Authorization: Bearer <token>; an API key is not accepted',
  key: 'this endpoint needs an API key in X-API-Key',
  either: 'this endpoint needs a bearer token in Authorization: Bearer <token>, or an API key in X-API-Key',
};

type Credentials = ReadonlyMap<string, Credential>;

function credentialsOf(headers: Headers, credentials: Credentials) {
  const known = (kind: Credential['kind'], secret = '') => {
    const credential = credentials.get(secret);
    return credential?.kind === kind ? credential : undefined;
  };
  const token = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  return { token: known('token', token), key: known('key', headers['x-api-key']) };
}

/** Returns whether a request has a valid credential, whatever its endpoint takes. */
export function isKnown(headers: Headers, credentials: Credentials): boolean {
  const { token, key } = credentialsOf(headers, credentials);
  return token !== undefined || key !== undefined;
}

/** Throws a MockError: 401 for a missing, unknown or wrong kind of credential, 403 for an API key if only a user may act. */
export function authenticate(auth: Auth, headers: Headers, credentials: Credentials): Credential {
  const { token, key } = credentialsOf(headers, credentials);
  const { authorization, 'x-api-key': apiKey } = headers;
  const byToken = auth !== 'key' && (authorization !== undefined || auth !== 'either');
  const accepted = byToken ? token : key;
  if (accepted !== undefined) return accepted;
  const [sent, otherSent] = byToken ? [authorization, apiKey] : [apiKey, authorization];
  if (auth === 'jwt' && sent === undefined && key !== undefined)
    throw new MockError(403, 'Forbidden', requirements.jwt);
  const [wanted, other] = byToken ? ['bearer token', 'an API key'] : ['API key', 'a bearer token'];
  const without =
    otherSent === undefined ? 'the request has no credential' : `the request has ${other} instead`;
  const problem = sent === undefined ? without : `the ${wanted} is unknown`;
  throw new MockError(401, 'Unauthorized', `${problem}: ${requirements[auth]}`, {
    'www-authenticate': `${auth === 'key' ? 'ApiKey' : 'Bearer'} realm="rungate mock"`,
  });
}

/** The scopes of a new key by default: enough for a pipeline, but not for changing the platform. */
export const automationScopes: readonly string[] = [
  'ci:trigger',
  'ci:status',
  'ci:cancel',
  'process:execute',
  'quicktest:execute',
  'testcase:read',
  'testcase:execute',
  'execution:read',
];

/** Only the endpoints of a run need a scope, such as `ci:status`. Orders have none: any key may read them. */
export function requireScope(name: EndpointName, { scopes }: Credential): void {
  const scope = name.startsWith('run.') ? name.replace('run.', 'ci:') : undefined;
  if (scope === undefined || scopes === undefined || scopes.includes(scope)) return;
  const has = scopes.length === 0 ? 'none' : scopes.join(', ');
  throw new MockError(403, 'Forbidden', `${name} needs the scope ${scope}; this API key has ${has}`);
}
