import { readPage } from '../../client/list.ts';
import { type Api, type Endpoint, pathParams } from '../../contract/endpoint.ts';
import { api } from '../../contract/index.ts';
import { itemSchema } from '../../contract/shape.ts';
import type { Io } from '../../host/io.ts';
import { sanitize } from '../../sanitize.ts';
import { guardOwnAddress } from '../config/credential-guard.ts';
import { createContext } from '../context.ts';
import { namesEnvironment } from '../endpoints/environment-id.ts';
import type { GlobalOptions } from '../global-options.ts';
import { cached } from './cache.ts';
import type { Candidate, Line } from './completes.ts';

/** Somebody waits at the prompt: longer than this, and no answer is the better one. */
const mostMs = 1000;

/** As many as are asked for and offered; more are not read from a list. */
const most = 100;

type Item = Readonly<Record<string, unknown>>;

/** Shows nothing, asks nothing and mends nothing: a key was pressed, no command was given. */
function quiet(io: Io): Io {
  const nowhere: Io['out'] = {
    isTTY: false,
    columns: undefined,
    open: true,
    failure: null,
    write: async () => {},
  };
  return {
    ...io,
    out: nowhere,
    err: nowhere,
    ask: async () => null,
    askSecret: async () => null,
    stateFile: (path) => ({ ...io.stateFile(path), setAside: async () => null }),
  };
}

/**
 * The items of a list, asked from the service as the settings and the options on the line say.
 * @throws whatever stands in the way
 */
async function listItems(
  line: Line,
  name: string,
  endpoint: Endpoint,
  params: Readonly<Record<string, string>>,
): Promise<Item[]> {
  const globals = line.given as GlobalOptions;
  // Which branch this is could only be told by starting git.
  const context = await createContext(quiet(line.io), globals, {}, { refOf: () => null });
  guardOwnAddress(line.io, context.settings);
  const { apiUrl, token, apiKey } = context.settings;
  const credentials = [token?.value, apiKey?.value];
  const who = JSON.stringify([apiUrl?.value, credentials, name, params]);
  try {
    return await cached(line.io, who, credentials, async () => {
      const caller = await context.connect();
      const query = endpoint.paged ? { query: { page: 1, pageSize: most } } : {};
      const times = { attempts: 1, timeoutMs: mostMs, requestTimeoutMs: mostMs };
      const reply = await caller.exchange(name, endpoint, { params, ...query }, { ...times, check: false });
      return readPage(reply.value, reply.redact)?.items.slice(0, most) ?? [];
    });
  } finally {
    await context.close();
  }
}

/** What tells a person which item it is. No other field is shown: an address or a value may hold a secret. */
const nameFields = ['name', 'title', 'key', 'customer', 'status'];

/** A field as a word of a command line; undefined if it is none, or would pass for an option. */
function wordOf(item: Item, field: string): string | undefined {
  const value = item[field];
  // JSON.parse has rounded a larger number: it would be the id of something else.
  const isText = typeof value === 'string' || Number.isSafeInteger(value);
  return isText && !String(value).startsWith('-') ? String(value) : undefined;
}

/** One field of each item, with what the item is called. */
function candidates(items: readonly Item[], field: string): Candidate[] {
  return items.flatMap((item) => {
    const value = wordOf(item, field);
    if (value === undefined) return [];
    const about = nameFields.filter((name) => name !== field).map((name) => item[name]);
    return [{ value, about: String(about.find((text) => typeof text === 'string') ?? '') }];
  });
}

const environments = (line: Line) => listItems(line, 'env.list', api['env.list'], {});

/** The keys of the environments. */
export async function environmentKeys(line: Line): Promise<Candidate[]> {
  return candidates(await environments(line), 'key');
}

/** The only environment that the word names as a command reads it: an id comes before a key. */
function named(items: readonly Item[], word: string): Item | undefined {
  const byId = items.find((item) => wordOf(item, 'id') === word);
  const byKey = items.filter((item) => wordOf(item, 'key') === word);
  return byId ?? (byKey.length === 1 ? byKey[0] : undefined);
}

/** The key of each environment, and the id of one that no key names; the ids alone for what begins no key. */
function environmentWords(items: readonly Item[], typed: string): Candidate[] {
  const hasKey = (item: Item) => {
    const key = wordOf(item, 'key') ?? '';
    return key !== '' && key === sanitize(key) && named(items, key) === item;
  };
  const keys = candidates(items.filter(hasKey), 'key');
  if (!keys.some(({ value }) => value.startsWith(typed))) return candidates(items, 'id');
  const others = items.filter((item) => !hasKey(item));
  return [...keys, ...candidates(others, 'id')];
}

const nameless = (path: string) => path.replace(/\{[^{}]+\}/g, '{}').replace(/\.json$/, '');

/** The list that a path's nth parameter is from: `/api/webhooks` for the first of `/api/webhooks/{id}/test`. */
export function listOfParam(api: Api, path: string, index: number): [string, Endpoint] | undefined {
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

/** What may stand for a path's nth parameter, where the service has a list of it: ids, and for environments keys. */
export async function idsFor(path: string, index: number, line: Line): Promise<Candidate[]> {
  const list = listOfParam(api, path, index);
  if (list === undefined) return [];
  const [name, from] = list;
  if (name === 'env.list') return environmentWords(await environments(line), line.typed);
  const params = Object.fromEntries(
    pathParams(from.path).map((param, nth) => [param, line.operands[nth] ?? '']),
  );
  if (namesEnvironment(from)) {
    const [param = '', word = ''] = Object.entries(params)[0] ?? [];
    const environment = named(await environments(line), word);
    params[param] = (environment && wordOf(environment, 'id')) ?? word;
  }
  return candidates(await listItems(line, name, from, params), 'id');
}
