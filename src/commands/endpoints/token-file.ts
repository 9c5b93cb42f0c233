import type { Exchange } from '../../client/caller.ts';
import { idText, textAt } from '../../client/json-text.ts';
import { ConfigError, ContractError } from '../../errors.ts';
import type { SecretFile } from '../../host/write-file.ts';
import { renderResponse } from '../../output/json.ts';
import { maskSecret } from '../../output/mask.ts';
import { redactor, redactSecrets } from '../../redact.ts';
import { redactJson } from '../../redact-json.ts';
import { escapeJson, excerpt, sanitize } from '../../sanitize.ts';
import type { Context } from '../context.ts';

/** What can be sent as a header and printed as it is. */
function isPlain(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token) && sanitize(token) === token;
}

function isJson({ format }: Context['output']): boolean {
  return format === 'json' || format === 'ndjson';
}

export interface CreatedKey {
  /** What it was asked for. */
  name: string;
  response: Exchange;
  token: string;
}

/** What can be said of the key without its token. */
function described({ name, response, token }: CreatedKey): string {
  const id = idText(textAt(response.text, ['id']));
  const known = id === null ? '' : ` (id ${excerpt(redactSecrets(id, [token]), 80)})`;
  return `the API key "${excerpt(redactSecrets(name, [token]), 80)}"${known}`;
}

/** The response as JSON, without any secret but the token; one that cannot be laid out anew is still not lost. */
async function replyJson({ output }: Context, { response: { text }, token }: CreatedKey): Promise<string> {
  const redact = (value: string) => (value === token ? value : output.redact(value));
  return renderResponse(text, output.format === 'ndjson' ? 0 : 2, redact).catch(
    () => `${escapeJson(text)}\n`,
  );
}

/** Past the output, which takes secrets out: this one is the result, and must come out whole. */
async function print({ io }: Context, key: CreatedKey, text: string): Promise<void> {
  await io.out.write(text);
  if (io.out.open) return;
  // A closed pipe is no error elsewhere; here what was not read is lost.
  throw new ConfigError(`${described(key)} was created, but standard output did not take its token`, {
    hint: 'its token is lost: delete the key, with rungate keys delete <id>, then create another',
  });
}

async function printToken(context: Context, key: CreatedKey): Promise<void> {
  const text = isJson(context.output) ? await replyJson(context, key) : `${key.token}\n`;
  await print(context, key, text);
}

/** What is left to print when the token is in a file: in JSON the rest of the response, which has the key's id. */
async function printRest({ output }: Context, { response, token }: CreatedKey): Promise<void> {
  if (!isJson(output)) return;
  const { parse, stringify } = await import('lossless-json');
  const all = parse(response.text, undefined, { onDuplicateKey: ({ newValue }) => newValue });
  const { apiKey: _token, ...rest } = all as Record<string, unknown>;
  await output.json(redactJson(stringify(rest) ?? '{}', redactor([token])));
}

/** Writes the token to the file; where that fails, it is printed rather than lost. */
async function keep(context: Context, key: CreatedKey, file: SecretFile): Promise<void> {
  try {
    file.write(`${key.token}\n`);
  } catch (cause) {
    await printToken(context, key);
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`${described(key)} was created, but --output-file could not be written (${code})`, {
      hint: 'its token is on standard output instead, this once: keep it',
      cause,
    });
  }
  await printRest(context, key);
}

/**
 * Hands a new key's token over: masked first, then in the file or on stdout, and nowhere else.
 * @throws ConfigError when it could not be written where it should be, ContractError when it is no token
 */
export async function handOver(
  context: Context,
  key: CreatedKey,
  file: SecretFile | undefined,
): Promise<void> {
  await maskSecret(context.io, key.token);
  if (!isPlain(key.token)) {
    await print(context, key, await replyJson(context, key));
    const expected = 'a token of visible ASCII characters';
    throw new ContractError(
      `the apiKey in the response to ${key.response.request} cannot be sent in a header: expected ${expected}`,
      {
        field: 'apiKey',
        expected,
        received: 'string',
        status: key.response.status,
        hint: 'the key was created; what came is on standard output, as JSON',
      },
    );
  }
  if (file === undefined) await printToken(context, key);
  else await keep(context, key, file);
  const where =
    file === undefined ? 'its token is shown this once' : 'its token is in the file, and nowhere else';
  await context.output.note(`created ${described(key)}: ${where}`);
}
