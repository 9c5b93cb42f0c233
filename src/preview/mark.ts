import type { Listed } from '../client/environments.ts';
import { parseUrl } from '../parse-url.ts';

/** The key and the name that only rungate gives an environment. Nothing without both is ever deleted. */
const ownKey = /^rg-[0-9a-f]{12}$/;
const ownName = /^rungate preview (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) \S+$/;

/** @param hash of what the environment is for, in hex */
export const previewKey = (hash: string): string => `rg-${hash.slice(0, 12)}`;

/** @param now in milliseconds since the epoch */
export function previewName(now: number, host: string): string {
  return `rungate preview ${new Date(now).toISOString().replace(/\.\d+Z$/, 'Z')} ${host}`;
}

/** Returns when rungate created an environment, in milliseconds since the epoch; null if it did not. */
export function createdAt({ key = '', name = '' }: Pick<Listed, 'key' | 'name'>): number | null {
  const [, time] = ownName.exec(name) ?? [];
  if (time === undefined || !ownKey.test(key)) return null;
  const at = Date.parse(time);
  return Number.isNaN(at) ? null : at;
}

/** Returns a URL in one spelling: a service may change the case of the host, a default port or the last slash. */
function spelled(text: string): string | null {
  const url = parseUrl(text);
  return url && `${url.origin}${url.pathname.replace(/\/$/, '')}${url.search}`;
}

/** Returns whether rungate created an environment for a deployment, which is still the one that it tests. */
export const isOwn = (environment: Listed, baseUrl: string): boolean =>
  createdAt(environment) !== null && spelled(environment.baseUrl ?? '') === spelled(baseUrl);
