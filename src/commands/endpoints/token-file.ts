import type { Exchange } from '../../client/caller.ts';
import { ConfigError, ContractError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { SecretFile } from '../../host/write-file.ts';
import { redactJson } from '../../json/rewrite.ts';
import { idText, membersOf, objectText, textAt } from '../../json/text.ts';
import { renderResponse, wantsJson } from '../../output/json.ts';
import { redactor, redactSecrets } from '../../redact.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import type { Context } from '../context.ts';

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

/** Returns whether a token can be sent in a header and printed unchanged. */
function isPrintable(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token) && sanitize(token) === token;
}

interface CreatedKey {
  /** The requested name. */
  name: string;
  response: Exchange;
  token: string;
}

/** Describes a key without its token. */
function describedKey({ name, response, token }: CreatedKey): string {
  const id = idText(textAt(response.text, ['id']));
  const known = id === null ? '' : ` (id ${excerpt(redactSecrets(id, [token]), 80)})`;
  return `the API key "${excerpt(redactSecrets(name, [token]), 80)}"${known}`;
}

/** Returns the response as JSON, with all secrets redacted except the token. */
function replyJson({ output }: Context, { response: { text }, token }: CreatedKey): string {
  const redact = (value: string) => (value === token ? value : output.redact(value));
  return renderResponse(text, output.format === 'ndjson' ? 0 : 2, redact);
}

/** Bypasses the output, which redacts secrets, because this secret is the result. */
async function print({ io }: Context, key: CreatedKey, text: string): Promise<void> {
  await io.out.write(text);
  if (io.out.open && io.out.failure === null) return;
  // Elsewhere a closed pipe is not an error, but here the token would be lost.
  throw new ConfigError(
    `${describedKey(key)} was created, but its token could not be written to standard output`,
    {
      hint: 'its token is lost: delete the key with rungate keys delete <id>, then create another one',
    },
  );
}

async function printToken(context: Context, key: CreatedKey): Promise<void> {
  const text = wantsJson(context.output) ? replyJson(context, key) : `${key.token}\n`;
  await print(context, key, text);
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
      {
        hint: 'its token is on standard output instead, shown only once: save it',
        cause,
      },
    );
  }
  if (!wantsJson(context.output)) return;
  const rest = membersOf(key.response.text).filter(([name]) => name !== 'apiKey');
  await context.output.json(redactJson(objectText(rest), redactor([key.token])));
}

/** Masks the token in the CI's log first. @throws ConfigError if it could not be written, ContractError if it is not a token */
export async function handOver(
  context: Context,
  key: CreatedKey,
  file: SecretFile | undefined,
): Promise<void> {
  await maskSecret(context.io, key.token);
  if (!isPrintable(key.token)) {
    await print(context, key, replyJson(context, key));
    const expected = 'a token of visible ASCII characters';
    throw new ContractError(
      `the apiKey in the response to ${key.response.request} cannot be sent in a header: expected ${expected}`,
      {
        field: 'apiKey',
        expected,
        received: 'string',
        status: key.response.status,
        hint: 'the key was created; the response is on standard output, as JSON',
      },
    );
  }
  if (file === undefined) await printToken(context, key);
  else await keep(context, key, file);
  const where = file === undefined ? 'its token is shown only once' : 'its token is only in the file';
  await context.output.note(`created ${describedKey(key)}: ${where}`);
}
