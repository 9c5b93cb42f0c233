import { kebab } from '../../src/commands/endpoints/body-input.ts';
import { type Endpoint, pathParams, type Schema } from '../../src/contract/endpoint.ts';
import { shown } from '../../src/contract/fields.ts';
import { api, type EndpointName } from '../../src/contract/index.ts';
import { itemSchema } from '../../src/contract/shape.ts';
import { createClient } from '../../src/index.ts';
import { cli } from '../cli/harness.ts';
import { fakeClock } from '../fake-clock.ts';
import { type ReceivedRequest, serve } from '../transport/serve.ts';

export const endpoints = Object.keys(api) as EndpointName[];
export const endpointOf = (name: EndpointName): Endpoint => api[name];

/** The endpoints whose list may have any shape. */
export const lists = endpoints.filter((name) => endpointOf(name).list);

/** A response of the service; JSON, unless the headers say otherwise. */
export interface OddResponse {
  status?: number;
  text: string;
  headers?: Record<string, string>;
}

/** The effect of one response in the command line and in the library. */
export interface Outcome {
  /** The exit code with `--json`. */
  code: number;
  out: string;
  err: string;
  /** The exit code with `--format table`. */
  tableCode: number;
  tableOut: string;
  /** The value that the library returned; undefined if it threw. */
  value: unknown;
  /** The error that the library threw. */
  error: unknown;
  /** The requests of the command, of the table, and of the library, in this order. */
  seen: readonly ReceivedRequest[];
}

/** The options that a command needs besides its path parameters. */
const flags: Partial<Record<EndpointName, readonly string[]>> = {
  'run.trigger': ['--project', 'shop', '--process', 'checkout'],
  'keys.create': ['--name', 'ci'],
};

const bodies: Partial<Record<EndpointName, unknown>> = {
  'run.trigger': { projectSlug: 'shop', processSlug: 'checkout' },
  'keys.create': { name: 'ci' },
};

/** Returns the arguments of a call: `env vars update id-1 id-2 --field note=x --yes`. */
export function argvOf(name: EndpointName): string[] {
  const { path, body, bodyOptional, destructive } = endpointOf(name);
  const needed = body !== undefined && !bodyOptional && flags[name] === undefined;
  return [
    ...name.split('.').map(kebab),
    ...pathParams(path).map((_, index) => `id-${index + 1}`),
    ...(flags[name] ?? []),
    ...(needed ? ['--field', 'note=x'] : []),
    ...(destructive ? ['--yes'] : []),
  ];
}

/** Calls an endpoint through the library, with `body` if it is given. */
export async function throughLibrary(name: EndpointName, url: string, body?: unknown): Promise<unknown> {
  const client = createClient({ apiUrl: url, apiKey: 'key-1', token: 'token-1', clock: fakeClock() });
  const method = name
    .split('.')
    .reduce<unknown>((group, word) => (group as Record<string, unknown>)[word], client);
  const endpoint = endpointOf(name);
  const params = pathParams(endpoint.path).map((_, index) => `id-${index + 1}`);
  const given = body ?? bodies[name] ?? (endpoint.bodyOptional ? undefined : { note: 'x' });
  try {
    const call = method as (...args: unknown[]) => Promise<unknown>;
    return await call(...params, ...(endpoint.body === undefined ? [] : [given]));
  } finally {
    await client.close();
  }
}

/** Plays one response to an endpoint through the command line, as JSON and as a table, and through the library. */
export async function play(
  name: EndpointName,
  { status = 200, text, headers = { 'content-type': 'application/json' } }: OddResponse,
  more: readonly string[] = [],
): Promise<Outcome> {
  const { url, seen } = await serve(({ response }) => {
    response.writeHead(status, headers);
    response.end(status === 204 ? undefined : text);
  });
  const env = { RUNGATE_API_URL: url, RUNGATE_API_KEY: 'key-1', RUNGATE_TOKEN: 'token-1' };
  const argv = [...argvOf(name), ...more];
  const { code, out, err } = await cli([...argv, '--json'], { env });
  const table = await cli([...argv, '--format', 'table'], { env });
  let [value, error]: [unknown, unknown] = [undefined, undefined];
  try {
    value = await throughLibrary(name, url);
  } catch (thrown) {
    error = thrown;
  }
  return { code, out, err, tableCode: table.code, tableOut: table.out, value, error, seen };
}

interface Definition {
  readonly type: string;
  readonly format?: string;
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly options?: readonly Schema[];
  readonly shape?: Readonly<Record<string, Schema>>;
}
const definition = (schema: Schema): Definition => schema._zod.def as unknown as Definition;

/** The content of fields that the API does not require: a value, null, or no field at all. */
export type Filling = 'value' | 'null' | 'missing';

const texts: Readonly<Record<string, string>> = { currency: 'EUR', state: 'completed', apiKey: 'rg_token' };

function fields(schema: Schema, filling: Filling): Record<string, unknown> {
  const all = Object.entries(definition(schema).shape ?? {});
  const kept = all.filter(([, field]) => filling !== 'missing' || definition(field).type !== 'optional');
  return Object.fromEntries(kept.map(([name, field]) => [name, sample(field, filling, name)]));
}

/** Returns a value that matches the schema, with its optional fields filled in one way. */
export function sample(schema: Schema, filling: Filling, name = ''): unknown {
  const { type, innerType, element, options } = definition(schema);
  const { format } = (shown.get(schema) ?? {}) as { format?: string };
  switch (type) {
    case 'optional':
    case 'nullable':
      return filling === 'null' || innerType === undefined ? null : sample(innerType, filling, name);
    case 'array':
      return element === undefined ? [] : [sample(element, filling)];
    case 'union':
      return options?.[0] === undefined ? null : sample(options[0], filling);
    case 'object':
      return fields(schema, filling);
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'string':
      return format === 'date-time' ? '2026-05-01T00:00Z' : (texts[name] ?? 'text');
    default:
      return {};
  }
}

/** Returns a response that matches the API. That of `run.trigger` has a run id. */
export function sampleResponse(name: EndpointName, filling: Filling): unknown {
  if (name === 'run.trigger') return { runId: 'run-1', ...(filling === 'missing' ? {} : { appUrl: null }) };
  if (name === 'webhooks.eventTypes') return [{ id: 'item-1' }];
  const value = sample(endpointOf(name).response, filling);
  // The counts of a run that has ended are required.
  return name === 'run.status' ? { ...(value as object), failed: 0, blocked: 0 } : value;
}

/** Returns one item of a list. */
export function sampleItem(name: EndpointName, filling: Filling = 'value'): unknown {
  const item = itemSchema(endpointOf(name).response);
  return { id: 'item-1', ...(item === undefined ? {} : (sample(item, filling) as object)) };
}
