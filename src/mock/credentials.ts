import { randomBytes } from 'node:crypto';
import { seededDraw } from './random.ts';

/** A key and a token that look like real ones, so that what hides secrets is tried on the real shapes. */
export interface Credentials {
  apiKey: string;
  token: string;
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A user session's token in the shape of a JWT. Its signature is noise: the mock knows its tokens by heart. */
function tokenOf(tenant: string, user: string, signature: string): string {
  const claims = { sub: `user_${user}`, tenant, iat: 1_767_225_600, exp: 4_102_444_800 };
  return `${json({ alg: 'HS256', typ: 'JWT' })}.${json(claims)}.${signature}`;
}

export function seededCredentials(seed: number, tenant: string): Credentials {
  const text = seededDraw(seed, 'token');
  return {
    apiKey: `rg_${seededDraw(seed, 'api key').token(40)}`,
    token: tokenOf(tenant, text.id(12), text.token(43)),
  };
}

/** Returns random ones, which nobody can work out from a seed. */
export function newCredentials(tenant: string): Credentials {
  return {
    apiKey: `rg_${randomBytes(20).toString('hex')}`,
    token: tokenOf(tenant, randomBytes(6).toString('hex'), randomBytes(32).toString('base64url')),
  };
}
