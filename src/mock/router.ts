import { type Endpoint, type Method, pathParams, pathPattern } from '../contract/endpoint.ts';
import { api, type EndpointName } from '../contract/index.ts';

export type Route =
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
export function route(method: string, path: string): Route {
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
