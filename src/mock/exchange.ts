import type { IncomingMessage } from 'node:http';
import { CollectedBytes } from '../collected-bytes.ts';
import { type Endpoint, pathParams, pathPattern } from '../contract/endpoint.ts';
import { api, type EndpointName } from '../contract/index.ts';
import { MockError } from './response.ts';

export interface MatchedRoute {
  readonly name: EndpointName;
  readonly params: Readonly<Record<string, string>>;
}

// Paths with fewer parameters first: a literal segment wins over `{id}`.
const entries = (Object.entries(api) as [EndpointName, Endpoint][])
  .map(([name, { method, path }]) => ({ name, method, pattern: pathPattern(path), params: pathParams(path) }))
  .sort((a, b) => a.params.length - b.params.length);

/** Returns the endpoint of a request, or why there is none. Matches the path before decoding it, so an encoded slash stays inside its parameter. */
export function route(method: string, path: string): MatchedRoute | MockError {
  const matching = entries.filter((entry) => entry.pattern.test(path));
  const found = matching.find((entry) => entry.method === method);
  if (found !== undefined) {
    const values = found.pattern.exec(path)?.slice(1) ?? [];
    try {
      const params = found.params.map((name, index) => [name, decodeURIComponent(values[index] ?? '')]);
      return { name: found.name, params: Object.fromEntries(params) };
    } catch {
      return new MockError(400, 'Malformed path', `${path} has an invalid percent escape`);
    }
  }
  if (matching.length === 0) return new MockError(404, 'Not found', `no endpoint has the path ${path}`);
  const allow = [...new Set(matching.map((entry) => entry.method))].sort().join(', ');
  return new MockError(405, 'Method not allowed', `${path} does not allow ${method}`, { allow });
}

/** A query as received: a repeated name has all its values. */
export type RawQuery = Readonly<Record<string, string | string[]>>;

/** A request that the mock has received. */
export interface RecordedRequest {
  endpoint: EndpointName | null;
  method: string;
  path: string;
  query: RawQuery;
  headers: Readonly<Record<string, string>>;
  /** The raw body, read as UTF-8. */
  body: string;
  /** Wall-clock milliseconds of the mock's clock. */
  at: number;
  /** The status code sent; null if no response was sent, or not yet. */
  status: number | null;
}

/** Its `path` has no query, and is still percent-encoded; the names of its headers are in lower case. */
export interface ReceivedRequest
  extends Readonly<Pick<RecordedRequest, 'method' | 'path' | 'query' | 'headers'>> {
  /** Path and query as received. */
  readonly target: string;
  readonly bytes: Uint8Array;
  readonly route: MatchedRoute | MockError;
  readonly address: string;
}

export function parseQuery(search: string): RawQuery {
  const params = new URLSearchParams(search);
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const [first = '', ...more] = params.getAll(name);
      return [name, more.length === 0 ? first : [first, ...more]];
    }),
  );
}

/** Reads the whole body. Rejects if the client disconnects before sending all of it. @throws MockError 413 */
export async function readBytes(incoming: IncomingMessage, mostBytes: number): Promise<Uint8Array> {
  const body = new CollectedBytes(mostBytes);
  // Keep the socket open for the response.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }))
    if (!body.add(chunk)) throw new MockError(413, 'Payload too large', `the limit is ${mostBytes} bytes`);
  return body.bytes();
}

/** Returns a request without its body, which has not arrived yet. */
export function headOf(incoming: IncomingMessage): Omit<ReceivedRequest, 'bytes'> {
  const { method = 'GET', url: target = '/', headers, socket } = incoming;
  const [path = '', ...search] = target.split('?');
  return {
    method,
    path,
    target,
    query: parseQuery(search.join('?')),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ')]),
    ),
    route: route(method, path),
    address: socket.remoteAddress ?? 'unknown',
  };
}

/** The size limit of a body, and of all recorded bodies together. */
export const maxBytes = 64 * 1024 * 1024;

/** The last 10,000 requests, oldest first, with bodies of at most 64 MiB together. */
export class RequestLog {
  readonly requests: RecordedRequest[] = [];
  #size = 0;

  add({ route, method, path, query, headers, bytes }: ReceivedRequest, at: number): RecordedRequest {
    const body = Buffer.from(bytes).toString('utf8');
    const endpoint = route instanceof MockError ? null : route.name;
    const record = { endpoint, method, path, query, headers, body, at, status: null };
    this.requests.push(record);
    this.#size += body.length;
    while (this.requests.length > 10_000 || this.#size > maxBytes)
      this.#size -= this.requests.shift()?.body.length ?? this.#size;
    return record;
  }
}
