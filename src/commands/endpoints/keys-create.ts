import type { Exchange } from '../../client/caller.ts';
import { keys, knownScopes } from '../../contract/keys.ts';
import {
  ContractError,
  HttpError,
  NetworkError,
  type RungateError,
  StoppedError,
  UsageError,
} from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import type { SecretFile } from '../../host/write-file.ts';
import { nearest } from '../../suggest.ts';
import { type Context, warnOfFolder } from '../context.ts';
import { filled } from '../options.ts';
import { handOver } from './token-file.ts';

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
    throw new UsageError('the name of the key is missing', { hint: 'give --name <name>' });
  }
  return flags.scope === undefined ? { name } : { name, scopes: flags.scope };
}

/** Warns of scopes that resemble known ones. Other scopes may exist, so they are sent. */
async function speakOfScopes({ output }: Context, scopes: readonly string[]): Promise<void> {
  for (const scope of scopes) {
    const known: readonly string[] = knownScopes;
    if (scope.includes(','))
      await output.alert(
        `--scope ${output.excerpt(scope, 60)} is sent as one scope: repeat --scope for each scope`,
      );
    const near = known.includes(scope) ? null : nearest(scope, known);
    if (near !== null)
      await output.alert(`--scope ${output.excerpt(scope, 60)} is sent unchanged: did you mean ${near}?`);
  }
}

/** Creates the file for the token, before a token exists that could be lost. */
function prepareFile(io: Io, path: string): SecretFile {
  try {
    return io.createSecretFile(path);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      const hint = 'name a new file: rungate does not overwrite this one, and no key was created';
      throw new UsageError(`--output-file: ${path} already exists`, { hint, cause });
    }
    const hint = 'check the directory and its permissions; no key was created';
    throw new UsageError(`--output-file: ${path} cannot be written (${code})`, { hint, cause });
  }
}

/** Adds a warning to an error after which the key may exist, because the request is not repeated. */
function keyMayExist(error: unknown): error is RungateError {
  if (error instanceof NetworkError) return !error.unsent;
  if (error instanceof HttpError) return error.status >= 500;
  return error instanceof ContractError || error instanceof StoppedError;
}

async function create(context: Context, body: KeyBody, signal: AbortSignal): Promise<Exchange> {
  const caller = await context.connect();
  try {
    return await caller.exchange('keys.create', keys['keys.create'], { params: {}, body }, { signal });
  } catch (error) {
    if (keyMayExist(error)) {
      const advice = `a key named "${context.output.excerpt(body.name, 80)}" may exist now, but its token is lost: look for it in the service's settings, delete it there or with rungate keys delete <id>, then create another one`;
      error.hint = error.hint === undefined ? advice : `${error.hint}; ${advice}`;
    }
    throw error;
  }
}

/** `rungate keys create`: writes the token once, to standard output or to a file that only its owner can read. */
export async function createKeyCommand(context: Context, flags: CreateKeyFlags): Promise<number> {
  const body = keyBody(flags);
  const path = filled('--output-file', flags.outputFile);
  await context.connect();
  await speakOfScopes(context, body.scopes ?? []);
  const file = path === undefined ? undefined : prepareFile(context.io, path);
  const stop = new AbortController();
  // Held to the end: a signal must not interrupt between the response and the output of its token.
  const unsubscribe = context.io.onStop((signal) => stop.abort(new StoppedError(signal)));
  try {
    const response = await create(context, body, stop.signal);
    const { apiKey: token } = response.value as { apiKey: string };
    await handOver(context, { name: body.name, response, token }, file);
    if (path !== undefined) await warnOfFolder(context, path);
    return exitCodes.ok;
  } finally {
    unsubscribe();
    file?.discard();
  }
}
