import type { IncomingMessage } from 'node:http';
import { CollectedBytes } from '../collected-bytes.ts';
import type { EndpointName } from '../contract/index.ts';
import { parseQuery, type RawQuery } from './query.ts';
import { type Route, route } from './router.ts';

/** One request as it came over the wire. */
export interface Exchange {
  readonly method: string;
  /** Without the query, percent-encoded as it came. */
  readonly path: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly query: RawQuery;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly route: Route;
  /** The IP address it came from. */
  readonly address: string;
}

/** What is kept of a request, for whoever wants to know what really came. */
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
  /** The status sent, or null when no reply was sent, or none yet. */
  status: number | null;
}

function joined(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}

/** Reads the whole request. Rejects when the client goes away before it has sent it. */
export async function readExchange(incoming: IncomingMessage): Promise<Exchange> {
  const body = new CollectedBytes(Number.POSITIVE_INFINITY);
  for await (const chunk of incoming) body.add(chunk as Uint8Array);
  const target = incoming.url ?? '/';
  const cut = target.indexOf('?');
  const path = cut < 0 ? target : target.slice(0, cut);
  const method = incoming.method ?? 'GET';
  return {
    method,
    path,
    target,
    query: parseQuery(cut < 0 ? '' : target.slice(cut + 1)),
    headers: joined(incoming.headers),
    bytes: body.bytes(),
    route: route(method, path),
    address: incoming.socket.remoteAddress ?? 'unknown',
  };
}

export function recordOf(exchange: Exchange, at: number): RecordedRequest {
  const { method, path, query, headers, bytes } = exchange;
  return {
    endpoint: exchange.route.kind === 'endpoint' ? exchange.route.name : null,
    method,
    path,
    query,
    headers,
    body: Buffer.from(bytes).toString('utf8'),
    at,
    status: null,
  };
}
