import type { IncomingMessage } from 'node:http';
import { CollectedBytes } from '../collected-bytes.ts';
import { type Endpoint, type Method, pathParams, pathPattern } from '../contract/endpoint.ts';
import { api, type EndpointName } from '../contract/index.ts';
import { MockError } from './response.ts';

export type MatchedRoute =
  | { kind: 'endpoint'; name: EndpointName; params: Readonly<Record<string, string>> }
  /** The path exists, but not with this method. */
  | { kind: 'method'; allow: readonly Method[] }
  /** The path has an invalid percent escape. */
  | { kind: 'malformed' }
  | { kind: 'unknown' };

interface Entry {
  name: EndpointName;
  endpoint: Endpoint;
  pattern: RegExp;
  params: readonly string[];
}

// Paths with fewer parameters first: a literal segment wins over `{id}`.
const entries: readonly Entry[] = (Object.entries(api) as [EndpointName, Endpoint][])
  .map(([name, endpoint]) => ({
    name,
    endpoint,
    pattern: pathPattern(endpoint.path),
    params: pathParams(endpoint.path),
  }))
  .sort((a, b) => a.params.length - b.params.length);

/** Matches the path before decoding it, so an encoded slash stays inside its parameter. */
export function route(method: string, path: string): MatchedRoute {
  const matching = entries.filter((entry) => entry.pattern.test(path));
  const found = matching.find((entry) => entry.endpoint.method === method);
  if (found === undefined) {
    const allow = [...new Set(matching.map((entry) => entry.endpoint.method))].sort();
    return allow.length > 0 ? { kind: 'method', allow } : { kind: 'unknown' };
  }
  const values = found.pattern.exec(path)?.slice(1) ?? [];
  try {
    const params = Object.fromEntries(
      found.params.map((name, index) => [name, decodeURIComponent(values[index] ?? '')]),
    );
    return { kind: 'endpoint', name: found.name, params };
  } catch {
    return { kind: 'malformed' };
  }
}

/** A query as received: a repeated name has all its values. */
export type RawQuery = Readonly<Record<string, string | string[]>>;

export interface ReceivedRequest {
  readonly method: string;
  /** Without the query, still percent-encoded. */
  readonly path: string;
  /** Path and query as received. */
  readonly target: string;
  readonly query: RawQuery;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly route: MatchedRoute;
  readonly address: string;
}

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

export function parseQuery(search: string): RawQuery {
  const params = new URLSearchParams(search);
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
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

export function recordOf(exchange: ReceivedRequest, at: number): RecordedRequest {
  const { method, path, query, headers, bytes, route } = exchange;
  return {
    endpoint: route.kind === 'endpoint' ? route.name : null,
    method,
    path,
    query,
    headers,
    body: Buffer.from(bytes).toString('utf8'),
    at,
    status: null,
  };
}
