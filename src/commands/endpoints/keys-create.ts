import type { Exchange } from '../../client/caller.ts';
import { mismatchError } from '../../client/schema-mismatch.ts';
import { keys, knownScopes } from '../../contract/keys.ts';
import {
  ConfigError,
  HttpError,
  NetworkError,
  type RungateError,
  StoppedError,
  UnexpectedResponseError,
  UsageError,
} from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import type { SecretFile } from '../../host/write-file.ts';
import { redactJson } from '../../json/rewrite.ts';
import { idText, membersOf, objectText, textAt } from '../../json/text.ts';
import { renderResponse, wantsJson } from '../../output/json.ts';
import { redactor, redactSecrets } from '../../redact.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import { nearest } from '../../suggest.ts';
import type { Context } from '../context.ts';
import { filled } from '../options.ts';
import { warnOfFolder } from '../secret-files.ts';
import { command, type FlagsOf, repeatable } from '../spec.ts';
import { describedEndpoint } from './derive.ts';

/**
 * Tells the CI to mask a secret in its logs; call it before the secret is printed. The command goes to stderr, since
 * `$(…)` would capture stdout, and is not sanitized, since the CI must execute it. Only GitHub and Azure have such a
 * command; GitLab, TeamCity and others mask only secrets that they know before the job begins.
 */
export async function maskSecret({ env, err }: Pick<Io, 'env' | 'err'>, secret: string): Promise<void> {
  const isSet = (name: string) => env[name]?.toLowerCase() === 'true';
  const escaped = (percent: string) =>
    secret.replaceAll('%', percent).replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  if (isSet('GITHUB_ACTIONS')) await err.write(`::add-mask::${escaped('%25')}\n`);
  // task.setvariable with issecret would mask it, too, but leave a variable behind.
  if (isSet('TF_BUILD')) await err.write(`##vso[task.setsecret]${escaped('%AZP25')}\n`);
}

interface CreatedKey {
  name: string;
  response: Exchange;
  token: string;
}

function describedKey({ name, response, token }: CreatedKey): string {
  const shown = (text: string) => excerpt(redactSecrets(text, [token]), 80);
  const id = idText(textAt(response.text, ['id']));
  return `the API key "${shown(name)}"${id === null ? '' : ` (id ${shown(id)})`}`;
}

/** Prints the token, with --json in its response. Bypasses the output, which redacts secrets, because this one is the result. */
async function printToken({ io, output }: Context, key: CreatedKey): Promise<void> {
  const redact = (value: string) => (value === key.token ? value : output.redact(value));
  const indent = output.format === 'ndjson' ? 0 : 2;
  const json = wantsJson(output);
  await io.out.write(json ? renderResponse(key.response.text, indent, redact) : `${key.token}\n`);
  if (io.out.open && io.out.failure === null) return;
  // Elsewhere a closed pipe is not an error, but here the token would be lost.
  throw new ConfigError(
    `${describedKey(key)} was created, but its token could not be written to standard output`,
    { hint: 'its token is lost: delete the key with rungate keys delete <id>, then create another one' },
  );
}

/** Writes the token to the file and prints the rest of the response. If that fails, prints the token, so that it is not lost. */
async function keep(context: Context, key: CreatedKey, file: SecretFile): Promise<void> {
  try {
    file.write(`${key.token}\n`);
  } catch (cause) {
    await printToken(context, key);
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new ConfigError(
      `${describedKey(key)} was created, but --output-file could not be written (${code})`,
      { hint: 'its token is on standard output instead, shown only once: save it', cause },
    );
  }
  if (!wantsJson(context.output)) return;
  const rest = membersOf(key.response.text).filter(([name]) => name !== 'apiKey');
  await context.output.json(redactJson(objectText(rest), redactor([key.token])));
}

/** @throws ConfigError if the token could not be written, UnexpectedResponseError if it cannot be sent in a header */
async function handOver(context: Context, key: CreatedKey, file: SecretFile | undefined): Promise<void> {
  const { token, response } = key;
  if (!/^[\x21-\x7e]+$/.test(token) || sanitize(token) !== token) {
    throw mismatchError(response.request, {
      field: 'apiKey',
      expected: 'a token of visible ASCII characters',
      received: 'string',
      status: response.status,
      hint: `${describedKey(key)} was created, but its token cannot be sent in a header: delete the key`,
    });
  }
  // Before the token is printed.
  await maskSecret(context.io, token);
  if (file === undefined) await printToken(context, key);
  else await keep(context, key, file);
  const where = file === undefined ? 'its token is shown only once' : 'its token is only in the file';
  await context.output.note(`created ${describedKey(key)}: ${where}`);
}

const options = {
  '--name <name>': 'name of the key',
  '--scope <scope>': repeatable('scope of the key (repeatable; default: scopes for automation)', knownScopes),
  '--output-file <file>': 'new file for the token, readable only by you',
} as const;

function keyBody(flags: FlagsOf<typeof options>): { name: string; scopes?: string[] } {
  const { scope: scopes } = flags;
  const name = filled('--name', flags.name);
  for (const scope of scopes ?? []) filled('--scope', scope);
  if (name !== undefined) return scopes === undefined ? { name } : { name, scopes };
  throw new UsageError('the name of the key is missing', { hint: 'give --name <name>' });
}

/** Warns of scopes that resemble known ones. Other scopes may exist, so they are sent. */
async function warnOfScopes({ output }: Context, scopes: readonly string[]): Promise<void> {
  const known: readonly string[] = knownScopes;
  for (const scope of scopes) {
    const sent = `--scope ${output.excerpt(scope, 60)} is sent`;
    if (scope.includes(',')) await output.alert(`${sent} as one scope: repeat --scope for each scope`);
    const near = known.includes(scope) ? null : nearest(scope, known);
    if (near !== null) await output.alert(`${sent} unchanged: did you mean ${near}?`);
  }
}

/** Creates the file for the token, before a token exists that could be lost. */
function prepareFile(io: Io, path: string): SecretFile {
  try {
    return io.createSecretFile(path);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const problem = code === 'EEXIST' ? 'already exists' : `cannot be written (${code})`;
    throw new UsageError(`--output-file: ${path} ${problem}`, {
      hint: 'name a new file in a folder that you may write to; no key was created',
      cause,
    });
  }
}

/** Whether the key may exist after an error: the request is not repeated. */
function keyMayExist(error: unknown): error is RungateError {
  if (error instanceof NetworkError) return !error.unsent;
  if (error instanceof HttpError) return error.status >= 500;
  return error instanceof UnexpectedResponseError || error instanceof StoppedError;
}

async function create(
  context: Context,
  body: ReturnType<typeof keyBody>,
  signal: AbortSignal,
): Promise<Exchange> {
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

function scopeLines(): string {
  const areas = new Map<string, string[]>();
  for (const scope of knownScopes) {
    const [area = ''] = scope.split(':');
    areas.set(area, [...(areas.get(area) ?? []), scope]);
  }
  return [...areas.values()].map((scopes) => `  ${scopes.join('  ')}`).join('\n');
}

export const keysCreate = command({
  ...describedEndpoint('keys.create', keys['keys.create']),
  options,
  notes: `Known scopes (others are accepted):\n${scopeLines()}`,
  examples: ['rungate keys create --name ci --scope ci:trigger --scope ci:status'],
  async run(context, _args, flags) {
    const body = keyBody(flags);
    const path = filled('--output-file', flags.outputFile);
    await context.connect();
    await warnOfScopes(context, body.scopes ?? []);
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
      file?.close();
    }
  },
});
