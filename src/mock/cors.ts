import type { ServerResponse } from 'node:http';
import { UsageError } from '../errors.ts';
import { parseUrl } from '../parse-url.ts';
import { echoed } from '../suggest.ts';
import type { ReceivedRequest } from './exchange.ts';
import type { RawResponse } from './response.ts';

/**
 * Returns the origin of web pages that may use the API.
 * @param name the option, for the error
 * @throws UsageError for anything else, such as `*`
 */
export function originOf(name: string, text: string): string {
  const url = parseUrl(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.origin === text) return text;
  throw new UsageError(`${name}: ${echoed(text)} is not an origin`, {
    hint: 'write the scheme, the host and the port of the page, such as http://localhost:5173',
  });
}

/**
 * Lets pages of these origins use the API, but not the mock's page, its faults or its version page. Returns the response to a
 * preflight.
 */
export function allowPages(
  origins: readonly string[],
  { path, method, headers }: Pick<ReceivedRequest, 'path' | 'method' | 'headers'>,
  outgoing: ServerResponse,
): RawResponse | undefined {
  if (origins.length === 0 || !path.startsWith('/api/')) return undefined;
  outgoing.setHeader('vary', 'origin');
  const { origin = '', 'access-control-request-method': wanted } = headers;
  if (!origins.includes(origin)) return undefined;
  outgoing.setHeader('access-control-allow-origin', origin);
  outgoing.setHeader('access-control-expose-headers', '*');
  if (method !== 'OPTIONS' || wanted === undefined) return undefined;
  const asked = headers['access-control-request-headers'];
  const allowed = { 'access-control-allow-methods': wanted };
  return {
    status: 204,
    headers: asked === undefined ? allowed : { ...allowed, 'access-control-allow-headers': asked },
    body: new Uint8Array(),
  };
}
