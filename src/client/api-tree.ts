import {
  type Api,
  type BodyInput,
  type Endpoint,
  type PathParams,
  pathParams,
  type QueryInput,
  type ReplyOutput,
  type Schema,
} from '../contract/endpoint.ts';
import { UsageError } from '../errors.ts';
import type { Caller, CallerInput, CallOptions } from './options.ts';
import { readItems } from './pages.ts';

type Strings<Names extends readonly string[]> = { [Index in keyof Names]: string };

type BodyArgs<E extends Endpoint> = E extends { body: Schema }
  ? E extends { bodyOptional: true }
    ? [body?: BodyInput<E> | undefined]
    : [body: BodyInput<E>]
  : [];

type QueryArgs<E extends Endpoint> = E extends { query: Schema<Record<string, unknown>> }
  ? [query?: QueryInput<E> | undefined]
  : [];

/** A call's arguments: the path parameters in path order, then the body, then the query, as far as it has them. */
export type CallArgs<E extends Endpoint> = [
  ...params: Strings<PathParams<E['path']>>,
  ...body: BodyArgs<E>,
  ...query: QueryArgs<E>,
  options?: CallOptions | undefined,
];

type ItemOf<Reply> = Reply extends { items: readonly (infer Item)[] } ? Item : unknown;

/** What a paged endpoint has besides. */
export interface WholeList<E extends Endpoint> {
  /**
   * Every item of the list, page after page, from the query's `page` on; `pageSize` is passed on. The next page is
   * read while one is consumed; leaving the loop ends that. Timeouts and tries are for each page.
   */
  all(...args: CallArgs<E>): AsyncIterableIterator<ItemOf<ReplyOutput<E>>>;
}

export type EndpointCall<E extends Endpoint> = ((...args: CallArgs<E>) => Promise<ReplyOutput<E>>) &
  (E extends { paged: true } ? WholeList<E> : unknown);

type Head<Name> = Name extends `${infer Group}.${string}` ? Group : Name;

type Under<A, Group extends string> = {
  [Name in keyof A as Name extends `${Group}.${infer Rest}` ? Rest : never]: A[Name];
};

/** Endpoints by dotted name as an object of objects: `'env.vars.list'` → `tree.env.vars.list(…)`. */
export type Tree<A> = {
  readonly [Name in Head<keyof A> & string]: Name extends keyof A
    ? A[Name] extends Endpoint
      ? EndpointCall<A[Name]>
      : never
    : Tree<Under<A, Name>>;
};

type Input = [CallerInput, CallOptions | undefined];

/** Tells the arguments of an endpoint's calls apart, by their place. */
function inputsOf(name: string, endpoint: Endpoint): (args: readonly unknown[]) => Input {
  const names = pathParams(endpoint.path);
  const places = [
    ...names,
    ...(endpoint.body ? ['body'] : []),
    ...(endpoint.query ? ['query'] : []),
    'options',
  ];
  const placeOf = (part: string) => places.indexOf(part, names.length);
  const [bodyAt, queryAt, optionsAt] = [placeOf('body'), placeOf('query'), placeOf('options')];
  return (args) => {
    if (args.length > places.length) {
      throw new UsageError(`${name} takes ${places.join(', ')}; ${args.length} arguments were given`);
    }
    const params: Record<string, string> = {};
    names.forEach((param, index) => {
      const value = args[index];
      if (typeof value !== 'string') {
        throw new UsageError(`${name}: ${param} must be a string; the call is ${name}(${places.join(', ')})`);
      }
      params[param] = value;
    });
    for (const at of [queryAt, optionsAt]) {
      const value = args[at];
      if (value !== undefined && (typeof value !== 'object' || value === null)) {
        throw new UsageError(
          `${name}: ${places[at]} must be an object; the call is ${name}(${places.join(', ')})`,
        );
      }
    }
    return [
      { params, query: args[queryAt] as CallerInput['query'], body: args[bodyAt] },
      args[optionsAt] as CallOptions | undefined,
    ];
  };
}

/** The endpoints as methods, in objects by the parts of their names. */
export function bindApi<A extends Api>(api: A, caller: Pick<Caller, 'exchange'>): Tree<A> {
  const tree: Record<string, unknown> = {};
  for (const [name, endpoint] of Object.entries(api)) {
    const parts = name.split('.');
    const leaf = parts.pop() ?? name;
    let group = tree;
    for (const part of parts) {
      if (!Object.hasOwn(group, part)) group[part] = {};
      group = group[part] as Record<string, unknown>;
    }
    const inputOf = inputsOf(name, endpoint);
    const call = async (...args: unknown[]) => {
      const [input, options] = inputOf(args);
      return (await caller.exchange(name, endpoint, input, options)).value;
    };
    const all = (...args: unknown[]) => readItems(caller, name, endpoint, ...inputOf(args));
    group[leaf] = endpoint.paged ? Object.assign(call, { all }) : call;
  }
  return tree as Tree<A>;
}
