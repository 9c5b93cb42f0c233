import { readPage } from '../../client/list.ts';
import { type Api, type Endpoint, pathParams } from '../../contract/endpoint.ts';
import { api } from '../../contract/index.ts';
import { itemSchema } from '../../contract/shape.ts';
import type { Io } from '../../host/io.ts';
import { guardOwnAddress } from '../config/credential-guard.ts';
import { createContext } from '../context.ts';
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
      return readPage(reply.value, reply.request, reply.conceal)?.items.slice(0, most) ?? [];
    });
  } finally {
    await context.close();
  }
}

/** What tells a person which item it is. No other field is shown: an address or a value may hold a secret. */
const nameFields = ['name', 'title', 'key', 'customer', 'status'];

/** One field of each item, with what the item is called. A value that would pass for an option is none. */
function candidates(items: readonly Item[], field: string): Candidate[] {
  return items.flatMap((item) => {
    const value = item[field];
    // JSON.parse has rounded a larger number: it would be the id of something else.
    const isText = typeof value === 'string' || Number.isSafeInteger(value);
    if (!isText || String(value).startsWith('-')) return [];
    const about = nameFields.filter((name) => name !== field).map((name) => item[name]);
    return [{ value: String(value), about: String(about.find((text) => typeof text === 'string') ?? '') }];
  });
}

/** The keys of the environments. */
export async function environmentKeys(line: Line): Promise<Candidate[]> {
  return candidates(await listItems(line, 'env.list', api['env.list'], {}), 'key');
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
      endpoint.method === 'GET' && nameless(endpoint.path) === nameless(before) && itemSchema(endpoint.reply),
  );
}

/** The ids that may stand for a path's nth parameter, where the service has a list of them. */
export async function idsFor(path: string, index: number, line: Line): Promise<Candidate[]> {
  const list = listOfParam(api, path, index);
  if (list === undefined) return [];
  const [name, from] = list;
  const params = Object.fromEntries(
    pathParams(from.path).map((param, nth) => [param, line.operands[nth] ?? '']),
  );
  return candidates(await listItems(line, name, from, params), 'id');
}
