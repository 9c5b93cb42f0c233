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
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';
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
    throw new UsageError('nothing says what the key is for', { hint: 'give --name <name>' });
  }
  return flags.scope === undefined ? { name } : { name, scopes: flags.scope };
}

/** Scopes that are nearly known ones: others may exist, so they go through, and the token is shown only this once. */
async function speakOfScopes({ output }: Context, scopes: readonly string[]): Promise<void> {
  for (const scope of scopes) {
    const known: readonly string[] = knownScopes;
    if (scope.includes(','))
      await output.alert(
        `--scope ${output.excerpt(scope, 60)} is sent as one scope: repeat --scope for each`,
      );
    const near = known.includes(scope) ? null : nearest(scope, known);
    if (near !== null)
      await output.alert(`--scope ${output.excerpt(scope, 60)} is sent as it is: did you mean ${near}?`);
  }
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
      const advice = `a key named "${context.output.excerpt(body.name, 80)}" may exist now, and its token is lost: look for it in the service's settings, delete it there or with rungate keys delete <id>, then create another`;
      error.hint = error.hint === undefined ? advice : `${error.hint}; ${advice}`;
    }
    throw error;
  }
}

/** `rungate keys create`: the token once, on stdout alone or in a file that only its owner can read. */
export async function createKeyCommand(context: Context, flags: CreateKeyFlags): Promise<number> {
  const body = keyBody(flags);
  const path = filled('--output-file', flags.outputFile);
  await context.connect();
  await speakOfScopes(context, body.scopes ?? []);
  const file = path === undefined ? undefined : prepareFile(context.io, path);
  const stop = new AbortController();
  // Kept to the end: a signal must not come between the response and its token's being printed.
  const unsubscribe = context.io.onStop((signal) => stop.abort(new StoppedError(signal)));
  try {
    const response = await create(context, body, stop.signal);
    const { apiKey: token } = response.value as { apiKey: string };
    await handOver(context, { name: body.name, response, token }, file);
    return exitCodes.ok;
  } finally {
    unsubscribe();
    file?.discard();
  }
}
