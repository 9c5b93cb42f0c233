import type * as z from 'zod/mini';

/** Any schema of the contract; `Out` is what a reader gets, `In` what a writer must supply. */
export type Schema<Out = unknown, In = Out> = z.ZodMiniType<Out, In>;

/** The HTTP methods of the service. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * Which credential an endpoint takes (interface, section 5):
 * `bearer` a user session's token; `jwt` the same, and never an API key; `key` an API key;
 * `either` not shown by the interface: a token if there is one, else the key.
 */
export type Auth = 'bearer' | 'jwt' | 'key' | 'either';

/** One endpoint of the service, as data. Everything that can be derived from it is. */
export interface Endpoint {
  readonly method: Method;
  /** The path below the base URL, its parameters in braces: `/api/ci/runs/{runId}`. */
  readonly path: `/api/${string}`;
  readonly auth: Auth;
  /** One sentence for help texts and the reference. */
  readonly summary: string;
  /** The section of the interface that declares it. */
  readonly section: string;
  readonly query?: Schema<Record<string, unknown>>;
  readonly body?: Schema;
  /** Fields of the body that may be secrets, whatever else the body says: no error shows them. */
  readonly secretFields?: readonly string[];
  /** The request may be sent without a body. */
  readonly bodyOptional?: true;
  /** The body may also be sent as `multipart/form-data` with one part, `file`. */
  readonly multipart?: true;
  readonly response: Schema;
  /** The contract does not show the response: any body is a success, or none. `response` is what it is likely to be. */
  readonly anyBody?: true;
  /** Bytes that a response may have, where that is less than the transport's 16 MiB. */
  readonly maxReplyBytes?: number;
  /** Takes an `Idempotency-Key`: with one, repeating the request does not repeat its effect. */
  readonly keyed?: true;
  /** Only the response says what was created: where it says nothing, the same key asks again. */
  readonly idInResponse?: true;
  /** The response has a new secret, which no error may show. */
  readonly newSecret?: true;
  /** A POST whose repetition has the effect of one: safe to send again after a lost response. */
  readonly idempotent?: true;
  /** Removes or invalidates something: asked about before it is done. */
  readonly destructive?: true;
  /** Answers with a list, in any of the shapes that lists have (`client/list.ts`); `response` is the documented one. */
  readonly list?: true;
  /** Takes `page` and `pageSize`. */
  readonly paged?: true;
  /** Values of the last path parameter that belong to another endpoint; `defineApi` finds them. */
  readonly reserved?: readonly string[];
}

export type Api = Readonly<Record<string, Endpoint>>;

/** The names of a path's parameters, in path order: `/a/{x}/{y}` → `['x', 'y']`. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [Name, ...PathParams<Rest>]
  : [];

/** A path's parameters as a record of strings. */
export type ParamRecord<Path extends string> = { readonly [Name in PathParams<Path>[number]]: string };

/** The body as the service sees it once it was checked. */
export type BodyOutput<E extends Endpoint> = E extends { body: infer S extends Schema }
  ? z.output<S> | (E extends { bodyOptional: true } ? undefined : never)
  : undefined;

export type QueryOutput<E extends Endpoint> = E extends {
  query: infer S extends Schema<Record<string, unknown>>;
}
  ? z.output<S>
  : Record<never, never>;

/** What a server may answer: stricter than what a reader accepts, since open enums are closed here. */
export type ResponseInput<E extends Endpoint> = z.input<E['response']>;

/** The names of a path's parameters, in path order. */
export function pathParams(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map((match) => String(match[1]));
}

/** Matches the paths of an endpoint, still percent-encoded; its groups are the parameters. */
export function pathPattern(path: string): RegExp {
  const source = path
    .split(/(\{[^{}]+\})/)
    .map((part) => (part.startsWith('{') ? '([^/]+)' : part.replace(/[.*+?^$()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${source.join('')}$`);
}

/** The path with its parameters' names taken out: two endpoints with one shape cannot be told apart. */
function shape(path: string): string {
  return path.replace(/\{[^{}]+\}/g, '{}');
}

/** The endpoints of a group, each with the group's properties where it has none of its own. */
type Defined<Group, A> = { readonly [Name in keyof A]: Omit<Group, keyof A[Name]> & A[Name] };

/**
 * Declares the endpoints of one group by name and keeps their literal types. Paths that can be taken for one another
 * belong to one group, so a caller of one endpoint needs none of the other groups to be loaded.
 * Throws when two of them share a method and a path: a server could not tell which was meant.
 */
export function defineApi<
  const Group extends Partial<Endpoint>,
  const A extends Record<string, Omit<Endpoint, keyof Group> & Partial<Endpoint>>,
>(group: Group, endpoints: A): Defined<Group, A> {
  const seen = new Map<string, string>();
  const defined: Record<string, Endpoint> = {};
  for (const [name, own] of Object.entries(endpoints)) {
    // A flag that is left out is not looked for in what other code has put into every object.
    const endpoint: Endpoint = Object.assign(Object.create(null), group, own);
    const route = `${endpoint.method} ${shape(endpoint.path)}`;
    const other = seen.get(route);
    if (other !== undefined)
      throw new Error(`${name} and ${other} are both ${route}: an endpoint is declared once`);
    seen.set(route, name);
    defined[name] = endpoint;
  }
  for (const endpoint of Object.values(defined))
    Object.assign(endpoint, { reserved: reservedValues(defined, endpoint) });
  return defined as unknown as Defined<Group, A>;
}

/**
 * The values of a path's last parameter that would turn the call into one of another endpoint:
 * an order with the id `summary` has the summary's path.
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
