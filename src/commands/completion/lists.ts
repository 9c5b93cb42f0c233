import { readPage } from '../../client/list.ts';
import { env } from '../../contract/env.ts';
import type { Io } from '../../host/io.ts';
import { readProfiles } from '../../settings/profiles.ts';
import { guardOwnAddress } from '../config/credential-guard.ts';
import { readStored } from '../config/sources.ts';
import { type Context, createContext } from '../context.ts';
import { readGlobals } from '../options.ts';
import type { CompletionLine, Suggestion, SuggestionSource, Suggestions } from './completes.ts';

/** The user waits at the prompt, so a slower response is useless. */
const timeoutMs = 1000;

const maxItems = 100;

function profiles({ io }: CompletionLine): string[] {
  const stored = readStored(io);
  return stored === null ? [] : Object.keys(readProfiles(stored.path, stored.text));
}

/** Returns an Io without output, prompts and repairs, because the user has not run a command. */
function quiet(io: Io): Io {
  const nowhere = { isTTY: false, columns: undefined, open: true, failure: null, write: async () => {} };
  return { ...io, out: nowhere, err: nowhere, ask: async () => null, askSecret: async () => null };
}

/** Uses the settings and the options on the line, but not the branch, since finding it would need a git process. */
async function withContext<Result>(
  { io, given }: CompletionLine,
  use: (context: Context) => Result | Promise<Result>,
): Promise<Result> {
  const { flags, settings } = readGlobals(given);
  const context = await createContext(quiet(io), flags, settings, { refOf: () => null });
  try {
    return await use(context);
  } finally {
    await context.close();
  }
}

/** Returns the gates of the project file, except those already on the line. */
const gates = (line: CompletionLine) =>
  withContext(line, ({ sources }) =>
    sources.gates
      .filter(({ name }) => !line.operands.includes(name))
      .map(({ name, needs }) => ({
        value: name,
        about: needs.length === 0 ? '' : `Needs ${needs.join(', ')}.`,
      })),
  );

/** Returns the key and the name of an environment, without what contains a credential or looks like an option. */
function environmentOf(item: unknown, { redact }: Context['output']): Suggestion[] {
  const { key, name } = (item ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof key !== 'string' || key.startsWith('-') || redact(key) !== key) return [];
  return [{ value: key, about: typeof name === 'string' && redact(name) === name ? name : '' }];
}

/** Returns the environments that the service lists, by their keys. @throws any error of the request */
const environments = (line: CompletionLine) =>
  withContext(line, async (context) => {
    guardOwnAddress(line.io, context.settings);
    const caller = await context.connect();
    const query = { page: 1, pageSize: maxItems };
    const limits = { maxRequests: 1, timeoutMs, requestTimeoutMs: timeoutMs, check: false };
    const { value } = await caller.exchange('env.list', env['env.list'], { params: {}, query }, limits);
    const items = readPage(value)?.items ?? [];
    return items.slice(0, maxItems).flatMap((item) => environmentOf(item, context.output));
  });

const lookups = { environments, gates, profiles };

/** Returns the candidates at the cursor. @throws any error of looking up a list */
export async function candidatesOf(source: SuggestionSource, line: CompletionLine): Promise<Suggestions> {
  if (typeof source === 'function') return source(line);
  return typeof source === 'string' ? lookups[source](line) : source;
}
