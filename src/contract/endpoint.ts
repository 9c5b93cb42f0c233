import type * as z from 'zod/mini';

/** A schema of the API; `Out` is the type for readers, `In` the type for writers. */
export type Schema<Out = unknown, In = Out> = z.ZodMiniType<Out, In>;

/** The HTTP methods of the service. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * The credential that an endpoint accepts:
 * `bearer` a bearer token; `jwt` the same, and never an API key; `key` an API key;
 * `either` not stated by the API: the token if it is set, or else the key.
 */
export type Auth = 'bearer' | 'jwt' | 'key' | 'either';

export interface Endpoint {
  readonly method: Method;
  /** The path below the base URL, with parameters in braces: `/api/ci/runs/{runId}`. */
  readonly path: `/api/${string}`;
  readonly auth: Auth;
  /** One sentence for the help and the reference. */
  readonly summary: string;
  readonly query?: Schema<Record<string, unknown>>;
  readonly body?: Schema;
  /** Fields of the body that may always be secrets: no error shows them. */
  readonly secretFields?: readonly string[];
  /** The request may be sent without a body. */
  readonly bodyOptional?: true;
  /** The body may also be sent as `multipart/form-data` with one part, `file`. */
  readonly multipart?: true;
  readonly response: Schema;
  /** The API does not describe the response: any body, or none, is a success. `response` is the likely shape. */
  readonly anyBody?: true;
  /** The most bytes of a response, if less than the transport's 16 MiB. */
  readonly maxReplyBytes?: number;
  /** Accepts an `Idempotency-Key`: with one, a repeated request has no further effect. */
  readonly keyed?: true;
  /** Only the response says what was created: without one, the request is repeated with the same key. */
  readonly idInResponse?: true;
  /** The response contains a new secret, which no error may show. */
  readonly newSecret?: true;
  /** A POST that is safe to repeat after a lost response. */
  readonly idempotent?: true;
  /** Removes or invalidates something, as a sentence with the parameters of the path: the command asks for confirmation. */
  readonly destructive?: `${'delete' | 'replace'} ${string}`;
  /** Returns a list in any of the accepted shapes (`client/list.ts`); `response` is the documented shape. */
  readonly list?: true;
  /** Accepts `page` and `pageSize`. */
  readonly paged?: true;
  /** Values of the last path parameter that lead to another endpoint; `defineApi` finds them. */
  readonly reserved?: readonly string[];
}

export type Api = Readonly<Record<string, Endpoint>>;

/** The names of the parameters of a path, in order: `/a/{x}/{y}` → `['x', 'y']`. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [Name, ...PathParams<Rest>]
  : [];

export type ParamRecord<Path extends string> = { readonly [Name in PathParams<Path>[number]]: string };

export type BodyOutput<E extends Endpoint> = E extends { body: infer S extends Schema }
  ? z.output<S> | (E extends { bodyOptional: true } ? undefined : never)
  : undefined;

export type QueryOutput<E extends Endpoint> = E extends {
  query: infer S extends Schema<Record<string, unknown>>;
}
  ? z.output<S>
  : Record<never, never>;

/** The responses that a server may send: stricter than those that a reader accepts, since open enums are closed here. */
export type ResponseInput<E extends Endpoint> = z.input<E['response']>;

export function pathParams(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map((match) => String(match[1]));
}

/** Returns a pattern for the percent-encoded paths of an endpoint; its groups are the parameters. */
export function pathPattern(path: string): RegExp {
  const source = path
    .split(/(\{[^{}]+\})/)
    .map((part) => (part.startsWith('{') ? '([^/]+)' : part.replace(/[.*+?^$()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${source.join('')}$`);
}

/** Returns the path without parameter names. A server cannot distinguish two endpoints of one shape. */
function shape(path: string): string {
  return path.replace(/\{[^{}]+\}/g, '{}');
}

type Path = Endpoint['path'];
type Rest = Omit<Partial<Endpoint>, 'method' | 'path' | 'summary'>;

const withMethod =
  <const M extends Method>(method: M) =>
  <const P extends Path, const R extends Rest = Record<never, never>>(
    path: P,
    summary: string,
    rest: R = {} as R,
  ) => ({ method, path, summary, ...rest });

/** Declare an endpoint with this method: `get('/api/orders/{id}.json', 'Show one order', { response: order })`. */
export const get = withMethod('GET');
export const post = withMethod('POST');
export const put = withMethod('PUT');
export const remove = withMethod('DELETE');

/** The endpoints of a group, each with the properties of the group that it does not override. */
type Defined<Group, A> = { readonly [Name in keyof A]: Omit<Group, keyof A[Name]> & A[Name] };

/**
 * Declares the endpoints of one group by name and keeps their literal types. Paths that could be confused are in one
 * group, so a caller of an endpoint does not need to load the other groups.
 */
export function defineApi<
  const Group extends Partial<Endpoint>,
  const A extends Record<string, Omit<Endpoint, keyof Group> & Partial<Endpoint>>,
>(group: Group, endpoints: A): Defined<Group, A> {
  const defined: Record<string, Endpoint> = {};
  for (const [name, own] of Object.entries(endpoints)) defined[name] = { ...group, ...own } as Endpoint;
  for (const endpoint of Object.values(defined))
    Object.assign(endpoint, { reserved: reservedValues(defined, endpoint) });
  return defined as unknown as Defined<Group, A>;
}

/**
 * Returns the values of the last path parameter that lead to another endpoint: an order with the id `summary` has the path
 * of the summary.
 */
export function reservedValues(api: Api, endpoint: Endpoint): string[] {
  const cut = endpoint.path.lastIndexOf('{');
  if (cut < 0) return [];
  const prefix = shape(endpoint.path.slice(0, cut));
  const suffix = endpoint.path.slice(endpoint.path.lastIndexOf('}') + 1);
  return Object.values(api)
    .filter((other) => other.method === endpoint.method && other !== endpoint)
    .map((other) => shape(other.path))
    .filter((path) => path.startsWith(prefix) && path.endsWith(suffix))
    .map((path) => path.slice(prefix.length, path.length - suffix.length))
    .filter((value) => value !== '' && !/[{}/]/.test(value));
}
