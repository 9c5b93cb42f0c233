import { HttpError } from '../errors.ts';

/** More hops than any sane set-up needs. */
export const maxRedirects = 5;

const moved: readonly number[] = [301, 302, 303];
const kept: readonly number[] = [307, 308];

/**
 * Where a reply sends us, or undefined when it is no redirect.
 * Only within the origin, since the credential goes along; a GET follows any redirect, another method only
 * those that keep method and body.
 * @param hops redirects already followed
 * @throws HttpError for a redirect that is not followed
 */
export function redirectTarget(
  reply: { status: number; location: string | undefined },
  method: string,
  from: URL,
  hops: number,
): URL | undefined {
  const { status, location } = reply;
  if (location === undefined || !(moved.includes(status) || kept.includes(status))) return undefined;
  if (!URL.canParse(location, from.href)) {
    throw new HttpError(`the service redirects (${status}) to something that is not an address`, { status });
  }
  const to = new URL(location, from.href);
  to.username = '';
  to.password = '';
  to.hash = '';
  if (to.origin !== from.origin) {
    const place = to.origin === 'null' ? `a ${to.protocol} address` : to.origin;
    throw new HttpError(`the service redirects (${status}) to another origin, ${place}`, {
      status,
      hint: `the credential is not sent there; if ${place} is the service, set RUNGATE_API_URL to it`,
    });
  }
  if (method !== 'GET' && moved.includes(status)) {
    throw new HttpError(`the service redirects (${status}) a ${method}, which would lose its body`, {
      status,
      hint: `set RUNGATE_API_URL so that it needs no redirect; this one leads to ${to.pathname}`,
    });
  }
  if (hops >= maxRedirects) {
    throw new HttpError(`the service redirects in circles: more than ${maxRedirects} times`, {
      status,
      hint: 'check the path in RUNGATE_API_URL',
    });
  }
  return to;
}
