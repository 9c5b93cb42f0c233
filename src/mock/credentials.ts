import { randomBytes } from 'node:crypto';
import { seededText } from './random.ts';

const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An API key that looks like a real one, so that what hides secrets is tried on the real shape. */
export function seededApiKey(seed: number): string {
  return `rg_${seededText(seed, 'api key').token(40)}`;
}

/** A user session's token in the shape of a JWT. Its signature is noise: the mock knows its tokens by heart. */
export function seededToken(seed: number, tenant: string): string {
  const text = seededText(seed, 'token');
  const claims = { sub: `user_${text.id(12)}`, tenant, iat: 1_767_225_600, exp: 4_102_444_800 };
  return `${json({ alg: 'HS256', typ: 'JWT' })}.${json(claims)}.${text.token(43)}`;
}

/** Returns a random key and token in the same shapes. */
export function newCredentials(tenant: string): { apiKey: string; token: string } {
  const claims = {
    sub: `user_${randomBytes(6).toString('hex')}`,
    tenant,
    iat: 1_767_225_600,
    exp: 4_102_444_800,
  };
  const signature = randomBytes(32).toString('base64url');
  return {
    apiKey: `rg_${randomBytes(20).toString('hex')}`,
    token: `${json({ alg: 'HS256', typ: 'JWT' })}.${json(claims)}.${signature}`,
  };
}
