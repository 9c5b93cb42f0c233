import { type Endpoint, pathParams } from '../contract/endpoint.ts';
import { api } from '../contract/index.ts';
import { UsageError } from '../errors.ts';
import { nameInLibrary } from '../options/spelling.ts';
import { createCaller } from './caller.ts';
import { checkOptions, optionsOf } from './check-options.ts';
import { type ExactOptions, listExact } from './exact-orders.ts';
import { asList, readPage } from './list.ts';
import {
  type Caller,
  type CallerInput,
  type CallOptions,
  type ClientOptions,
  callOptions,
  callShape,
  clientOptions,
} from './options.ts';
import { readItems } from './pages.ts';
import type { ServiceClient } from './service-client.ts';

export type { PagedMethod, ServiceClient } from './service-client.ts';

const { check: _, ...exactShape } = callShape;
const exactOptions = optionsOf<ExactOptions>(exactShape);

type ParsedArguments = [input: CallerInput, options: CallOptions | undefined];

/** Returns the parser of a method's arguments: path parameters, then the body and the query if the endpoint has them, then options. */
function argumentParser(name: string, endpoint: Endpoint) {
  const names = pathParams(endpoint.path);
  const others = ['body', 'query', 'options'].filter((part) => part === 'options' || part in endpoint);
  const takes = [...names, ...others].join(', ');
  return (args: readonly unknown[]): ParsedArguments => {
    if (args.length > names.length + others.length) {
      throw new UsageError(`${name} takes ${takes}; ${args.length} arguments were given`);
    }
    const params: Record<string, string> = {};
    names.forEach((param, index) => {
      const value = args[index];
      if (typeof value !== 'string') {
        throw new UsageError(`${name}: ${param} must be a string; the call is ${name}(${takes})`);
      }
      params[param] = value;
    });
    const part = (which: string): unknown =>
      others.includes(which) ? args[names.length + others.indexOf(which)] : undefined;
    const query = part('query');
    if (query !== undefined && (typeof query !== 'object' || query === null))
      throw new UsageError(`${name}: query must be an object; the call is ${name}(${takes})`);
    const options = part('options');
    const checked = options === undefined ? undefined : checkOptions(callOptions, options, name);
    return [{ params, query: query as CallerInput['query'], body: part('body') }, checked];
  };
}

/** Returns the endpoints as methods, in objects by the parts of their names. */
export function bindApi(caller: Pick<Caller, 'exchange'>): Omit<ServiceClient, 'close'> {
  const tree: Record<string, object> = {};
  for (const [name, endpoint] of Object.entries<Endpoint>(api)) {
    const parts = name.split('.');
    const leaf = parts.pop() ?? name;
    let group = tree;
    for (const part of parts) {
      if (!Object.hasOwn(group, part)) group[part] = {};
      group = group[part] as Record<string, object>;
    }
    const parse = argumentParser(name, endpoint);
    const call = async (...args: unknown[]) => {
      const [input, options] = parse(args);
      const { value } = await caller.exchange(name, endpoint, input, options);
      if (!endpoint.list || options?.check === false) return value;
      return asList(value, readPage(value));
    };
    const all = (...args: unknown[]) => readItems(caller, name, endpoint, ...parse(args));
    group[leaf] = endpoint.paged ? Object.assign(call, { all }) : call;
  }
  Object.assign(tree.orders ?? {}, {
    listExact: async (options: ExactOptions = {}) =>
      listExact(caller, checkOptions(exactOptions, options, 'orders.listExact')),
  });
  return tree as unknown as Omit<ServiceClient, 'close'>;
}

/**
 * Returns a typed client for the whole service. It opens no connection before the first call, and
 * does not read the environment. The first call that needs an address or a credential throws if it cannot be used.
 * @throws UsageError if an option is unknown, has the wrong type, or if there is no address
 * @example
 * ```ts
 * import { createClient } from 'rungate';
 *
 * const client = createClient({ apiUrl: 'https://service.example.com', token: process.env.RUNGATE_TOKEN });
 * const { items } = await client.env.list({ pageSize: 10 });
 * console.log(items.map(({ key }) => key));
 * await client.close();
 * ```
 */
export function createClient(options: ClientOptions): ServiceClient {
  const checked = checkOptions(clientOptions, options, 'createClient');
  const caller = createCaller(checked, nameInLibrary);
  return { ...bindApi(caller), close: () => caller.close() };
}
