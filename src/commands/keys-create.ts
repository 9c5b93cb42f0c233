import { keys } from '../contract/keys.ts';
import {
  ConfigError,
  ContractError,
  HttpError,
  NetworkError,
  type RungateError,
  StoppedError,
  UsageError,
} from '../errors.ts';
import { exitCodes } from '../exit.ts';
import type { Exchange } from '../http/client.ts';
import type { Io } from '../output/io.ts';
import { renderReply } from '../output/json.ts';
import { maskSecret } from '../output/mask.ts';
import { escapeJson, excerpt, redact, sanitize } from '../output/sanitize.ts';
import type { SecretFile } from '../output/secret-file.ts';
import type { Context } from './context.ts';
import { filled } from './globals.ts';

export interface CreateKeyFlags {
  name?: string;
  scope?: string[];
  outputFile?: string;
}

interface KeyBody {
  name: string;
  scopes?: string[];
}

function keyBody(flags: CreateKeyFlags): KeyBody {
  const name = filled('--name', flags.name);
  for (const scope of flags.scope ?? []) filled('--scope', scope);
  if (name === undefined) {
    throw new UsageError('nothing says what the key is for', { hint: 'give --name <name>' });
  }
  return flags.scope === undefined ? { name } : { name, scopes: flags.scope };
}

/** The file for the token, found to be possible before there is a token that could be lost. */
function prepareFile(io: Io, path: string): SecretFile {
  try {
    return io.createSecretFile(path);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      const hint = 'give the name of a new file: nothing is overwritten, and no key was created';
      throw new UsageError(`--output-file: ${path} is there already`, { hint, cause });
    }
    const hint = 'check the folder and who may write to it; no key was created';
    throw new UsageError(`--output-file: ${path} cannot be written (${code})`, { hint, cause });
  }
}

/** The key may be there although its token has not come: the request was on its way, and is not sent twice. */
function mayExist(error: unknown): error is RungateError {
  if (error instanceof NetworkError) return !error.unsent;
  if (error instanceof HttpError) return error.status >= 500;
  return error instanceof ContractError || error instanceof StoppedError;
}

async function create(context: Context, body: KeyBody, signal: AbortSignal): Promise<Exchange> {
  const caller = await context.connect();
  try {
    return await caller.exchange('keys.create', keys['keys.create'], { params: {}, body }, { signal });
  } catch (error) {
    if (mayExist(error)) {
      const advice = `a key named "${excerpt(body.name, 80)}" may exist now, and its token is lost: look for it in the service's settings, delete it there or with rungate keys delete <id>, then create another`;
      error.hint = error.hint === undefined ? advice : `${error.hint}; ${advice}`;
    }
    throw error;
  }
}

/** What can be sent as a header and printed as it is. */
function isPlain(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token) && sanitize(token) === token;
}

function isJson({ format }: Context['output']): boolean {
  return format === 'json' || format === 'ndjson';
}

/** The reply as JSON; one that cannot be laid out anew is still not lost. */
async function replyJson({ output }: Context, { text }: Exchange): Promise<string> {
  return renderReply(text, output.format === 'ndjson' ? 0 : 2).catch(() => `${escapeJson(text)}\n`);
}

/** Past the output, which takes secrets out: this one is the result, and must come out whole. */
async function printToken(context: Context, reply: Exchange, token: string): Promise<void> {
  const text = isJson(context.output) ? await replyJson(context, reply) : `${token}\n`;
  await context.io.out.write(text);
}

/** What is left to print when the token is in a file: in JSON the rest of the reply, which has the key's id. */
async function printRest({ output }: Context, reply: Exchange, token: string): Promise<void> {
  if (!isJson(output)) return;
  const { parse, stringify } = await import('lossless-json');
  const all = parse(reply.text, undefined, { onDuplicateKey: ({ newValue }) => newValue });
  const { apiKey: _token, ...rest } = all as Record<string, unknown>;
  await output.reply(redact(stringify(rest) ?? '{}', [token]), { head: [], rows: [] });
}

function described(body: KeyBody, reply: Exchange, token: string): string {
  const { id } = reply.value as { id?: unknown };
  const known = typeof id === 'string' || typeof id === 'number' ? ` (id ${excerpt(String(id), 80)})` : '';
  return redact(`created the API key "${excerpt(body.name, 80)}"${known}`, [token]);
}

/** Writes the token to the file; where that fails, it is printed rather than lost. */
async function keep(context: Context, reply: Exchange, token: string, file: SecretFile): Promise<void> {
  try {
    file.write(`${token}\n`);
  } catch (cause) {
    await printToken(context, reply, token);
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`the key was created, but --output-file could not be written (${code})`, {
      hint: 'its token is on standard output instead, this once: keep it',
      cause,
    });
  }
  await printRest(context, reply, token);
}

async function handOver(
  context: Context,
  body: KeyBody,
  reply: Exchange,
  file: SecretFile | undefined,
): Promise<void> {
  const { apiKey: token } = reply.value as { apiKey: string };
  await maskSecret(context.io, token);
  if (!isPlain(token)) {
    await context.io.out.write(await replyJson(context, reply));
    const expected = 'a token of visible ASCII characters';
    throw new ContractError(`keys.create: apiKey cannot be sent as a header: expected ${expected}`, {
      field: 'apiKey',
      expected,
      received: 'string',
      status: reply.status,
      hint: 'the key was created; what came is on standard output, as JSON',
    });
  }
  if (file === undefined) await printToken(context, reply, token);
  else await keep(context, reply, token, file);
  const where =
    file === undefined ? 'its token is shown this once' : 'its token is in the file, and nowhere else';
  await context.output.note(`${described(body, reply, token)}: ${where}`);
}

/** `rungate keys create`: the token once, on stdout alone or in a file that only its owner can read. */
export async function createKeyCommand(context: Context, flags: CreateKeyFlags): Promise<number> {
  const body = keyBody(flags);
  const path = filled('--output-file', flags.outputFile);
  await context.connect();
  const file = path === undefined ? undefined : prepareFile(context.io, path);
  const stop = new AbortController();
  // Kept to the end: a signal must not come between the reply and its token's being printed.
  const unsubscribe = context.io.onStop((signal) => stop.abort(new StoppedError(signal)));
  try {
    const reply = await create(context, body, stop.signal);
    await handOver(context, body, reply, file);
    return exitCodes.ok;
  } finally {
    unsubscribe();
    file?.discard();
  }
}
