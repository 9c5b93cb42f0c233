import { UsageError } from '../../errors.ts';
import { readProblem } from '../../host/read-file.ts';
import { JsonSyntaxError, lineAndColumn, parseJson } from '../../json/parse.ts';

function errorIndex(text: string): number {
  try {
    return parseJson(text).end;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.index;
    throw error;
  }
}

/** Returns the error of an `--input` that is not JSON. It does not quote the input, which may contain a secret. */
export function notJsonInput(name: string, bytes: Uint8Array): UsageError {
  const [first, second] = bytes;
  if (first === 0xff || first === 0xfe || first === 0 || second === 0)
    return new UsageError(`--input: ${name} is UTF-16 text`, {
      hint: 'save it as UTF-8; in Windows PowerShell, use Set-Content -Encoding ascii instead of >',
    });
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === '')
    return new UsageError(`--input: ${name} is empty`, {
      hint: 'check what writes it; a JSON body looks like {"name": "value"}',
    });
  const { line, column } = lineAndColumn(text, errorIndex(text));
  return new UsageError(`--input: ${name} is not JSON, at line ${line}, column ${column}`, {
    hint: 'check the text at that place; a JSON body looks like {"name": "value"}, without comments',
  });
}

/** Mistakes in the path. The message does not repeat a path that may be a body with secrets. */
const notPaths: readonly (readonly [is: RegExp, what: string, hint: string])[] = [
  [
    /^\s*[[{]/,
    'the value is JSON, not a path',
    'pipe the JSON into the command with --input -, or give the fields with --field and --json-field',
  ],
  [/^@/, 'the path begins with @', 'remove the @: --input body.json'],
];

export function unreadableInput(path: string, cause: unknown): UsageError {
  const { code } = cause as NodeJS.ErrnoException;
  const [, what, hint] = (code === 'EISDIR' ? undefined : notPaths.find(([is]) => is.test(path))) ?? [];
  if (what !== undefined) return new UsageError(`--input: ${what}`, { hint });
  return new UsageError(`--input: ${path} cannot be read: ${readProblem(cause)}`, {
    hint: 'give a JSON file with the body, or - for standard input',
    cause,
  });
}
