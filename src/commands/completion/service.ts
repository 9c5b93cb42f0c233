import { readPage } from '../../client/list.ts';
import { type Api, type Endpoint, pathParams } from '../../contract/endpoint.ts';
import { api } from '../../contract/index.ts';
import { itemSchema } from '../../contract/shape.ts';
import type { Io } from '../../host/io.ts';
import type { Redact } from '../../redact.ts';
import { guardOwnAddress } from '../config/credential-guard.ts';
import { type Context, createContext } from '../context.ts';
import { namesEnvironment } from '../endpoints/environment-id.ts';
import { readGlobals } from '../options.ts';
import type { CompletionLine, Suggestion } from './completes.ts';

/** The user waits at the prompt, so a slower response is useless. */
const timeoutMs = 1000;

const maxItems = 100;

type Item = Readonly<Record<string, unknown>>;

/** Leaves out the fields in which the service sent back a credential. */
function withoutSecrets(item: unknown, redact: Redact): Item {
  const fields = typeof item === 'object' && item !== null ? Object.entries(item) : [];
  return Object.fromEntries(
    fields.filter(([, value]) => typeof value !== 'string' || redact(value) === value),
  );
}

/** Returns an Io without output, prompts and repairs, because the user has not run a command. */
function quiet(io: Io): Io {
  const nowhere = { isTTY: false, columns: undefined, open: true, failure: null, write: async () => {} };
  return { ...io, out: nowhere, err: nowhere, ask: async () => null, askSecret: async () => null };
}

/** Without the branch, since finding it would need a git process. */
function contextOf({ io, given }: CompletionLine): Promise<Context> {
  const { flags, settings } = readGlobals(given);
  return createContext(quiet(io), flags, settings, { refOf: () => null });
}

/** Uses the settings and the options on the line. @throws any error of the request */
async function listItems(
  line: CompletionLine,
  name: string,
  endpoint: Endpoint,
  params: Readonly<Record<string, string>>,
): Promise<Item[]> {
  const context = await contextOf(line);
  guardOwnAddress(line.io, context.settings);
  try {
    const caller = await context.connect();
    const query = endpoint.paged ? { query: { page: 1, pageSize: maxItems } } : {};
    const limits = { maxRequests: 1, timeoutMs, requestTimeoutMs: timeoutMs, check: false };
    const { value } = await caller.exchange(name, endpoint, { params, ...query }, limits);
    const items = readPage(value)?.items.slice(0, maxItems) ?? [];
    return items.map((item) => withoutSecrets(item, context.output.redact));
  } finally {
    await context.close();
  }
}

/** The fields that describe an item. No other field is shown, because a URL or a value may contain a secret. */
const nameFields = ['name', 'title', 'key', 'customer', 'status'];

/** Returns a field as a command-line argument; undefined if it is missing or looks like an option. */
function wordOf(item: Item, field: string): string | undefined {
  const value = item[field];
  // JSON.parse rounds larger numbers, which would yield the id of another item.
  const isText = typeof value === 'string' || Number.isSafeInteger(value);
  return isText && !String(value).startsWith('-') ? String(value) : undefined;
}

function candidates(items: readonly Item[], field: string): Suggestion[] {
  return items.flatMap((item) => {
    const value = wordOf(item, field);
    if (value === undefined) return [];
    const about = nameFields.filter((name) => name !== field).map((name) => item[name]);
    return [{ value, about: String(about.find((text) => typeof text === 'string') ?? '') }];
  });
}

const environments = (line: CompletionLine) => listItems(line, 'env.list', api['env.list'], {});

export async function environmentKeys(line: CompletionLine): Promise<Suggestion[]> {
  return candidates(await environments(line), 'key');
}

const nameless = (path: string) => path.replace(/\{[^{}]+\}/g, '{}').replace(/\.json$/, '');

/** Returns the list with the values of a path's nth parameter: `/api/webhooks` for the first of `/api/webhooks/{id}/test`. */
function listOfParam(api: Api, path: string, index: number): [string, Endpoint] | undefined {
  const before = path
    .split('{', index + 1)
    .join('{')
    .replace(/\/$/, '');
  return Object.entries(api).find(
    ([, endpoint]) =>
      endpoint.method === 'GET' &&
      nameless(endpoint.path) === nameless(before) &&
      itemSchema(endpoint.response),
  );
}

/** Returns the candidates for a path's nth parameter if the service lists them: ids, and for environments also keys. */
export async function idsFor(path: string, index: number, line: CompletionLine): Promise<Suggestion[]> {
  const list = listOfParam(api, path, index);
  if (list === undefined) return [];
  const [name, from] = list;
  if (name === 'env.list') {
    const items = await environments(line);
    const keys = candidates(items, 'key');
    return keys.some(({ value }) => value.startsWith(line.typed)) ? keys : candidates(items, 'id');
  }
  const params = Object.fromEntries(
    pathParams(from.path).map((param, nth) => [param, line.operands[nth] ?? '']),
  );
  if (namesEnvironment(from)) {
    const [param = '', word = ''] = Object.entries(params)[0] ?? [];
    const environment = (await environments(line)).find((item) => wordOf(item, 'key') === word);
    params[param] = (environment && wordOf(environment, 'id')) ?? word;
  }
  return candidates(await listItems(line, name, from, params), 'id');
}

/** Returns the gates of the project file, except those already on the line. */
export async function gateNames(line: CompletionLine): Promise<Suggestion[]> {
  const context = await contextOf(line);
  try {
    const gates = context.sources.gates.filter(({ name }) => !line.operands.includes(name));
    return gates.map(({ name, needs }) =>
      needs.length === 0 ? { value: name } : { value: name, about: `Needs ${needs.join(', ')}.` },
    );
  } finally {
    await context.close();
  }
}
