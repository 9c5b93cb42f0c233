import type { IncomingMessage } from 'node:http';
import { CollectedBytes } from '../collected-bytes.ts';
import type { EndpointName } from '../contract/index.ts';
import { type Route, route } from './router.ts';

/** A query as received: a repeated name has all its values. */
export type RawQuery = Readonly<Record<string, string | string[]>>;

/** One request as received. */
export interface Exchange {
  readonly method: string;
  /** Without the query, still percent-encoded. */
  readonly path: string;
  /** Path and query as received. */
  readonly target: string;
  readonly query: RawQuery;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly route: Route;
  /** The client's IP address. */
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

/** Reads the whole request. Rejects if the client disconnects before sending all of it. */
export async function readExchange(incoming: IncomingMessage): Promise<Exchange> {
  const body = new CollectedBytes(Number.POSITIVE_INFINITY);
  for await (const chunk of incoming) body.add(chunk as Uint8Array);
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
    bytes: body.bytes(),
    route: route(method, path),
    address: socket.remoteAddress ?? 'unknown',
  };
}

export function recordOf(exchange: Exchange, at: number): RecordedRequest {
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
