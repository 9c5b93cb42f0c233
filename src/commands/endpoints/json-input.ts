import { UsageError } from '../../errors.ts';
import { readProblem } from '../../host/read-file.ts';
import { JsonSyntaxError, lineAndColumn, parseJson } from '../../json/parse.ts';

/** An `--input` that is not JSON. */
interface InvalidInput {
  /** The name for messages: the path, or standard input. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The text from the first error on, and the text before it. */
  readonly rest: string;
  readonly before: string;
}

type InputMistake = readonly [
  is: (given: InvalidInput) => boolean,
  what: string,
  hint: (given: InvalidInput) => string,
];

const quoted = 'write names and texts in double quotes: {"name": "value"}';

/** The likely mistakes, most certain first. No message quotes the input, which may contain a secret. */
const mistakes: readonly InputMistake[] = [
  [
    ({ bytes: [a, b] }) => (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff) || a === 0 || b === 0,
    'is UTF-16 text',
    () => 'save it as UTF-8; in Windows PowerShell, use Set-Content -Encoding ascii instead of >',
  ],
  [
    ({ text }) => text.trim() === '',
    'is empty',
    ({ name }) =>
      name === 'standard input'
        ? 'pipe the JSON into the command, or give its file instead of -'
        : 'write the fields as JSON: {"name": "value"}',
  ],
  [
    ({ text }) => /^(?:---|%YAML|[\w-]+:(?:\s|$)|- )/m.test(text) && !/^\s*[[{"]/.test(text),
    'is YAML, not JSON',
    ({ name }) =>
      `convert it, for example with yq -o json${name === 'standard input' ? '' : ` ${name}`}, and pipe that to --input -`,
  ],
  [
    ({ rest, before }) => /^[\]}]/.test(rest) && /,\s*$/.test(before),
    'has a comma after the last item',
    () => 'remove that comma',
  ],
  [
    ({ rest }) => /^(?:\/[/*]|#)/.test(rest),
    'has a comment',
    () => 'remove the comment: JSON does not allow comments',
  ],
  [({ rest }) => /^['‘’“”]/.test(rest), 'has quotes that are not JSON', () => quoted],
  [
    ({ rest, text }) => rest === '' && text !== '',
    'ends too early',
    () => 'check that each bracket and quote is closed',
  ],
  [({ rest }) => /^[\w$]/.test(rest), 'has a name or text without quotes', () => quoted],
  [() => true, 'is not JSON', () => 'check the text at that place; a JSON body looks like {"name": "value"}'],
];

function errorIndex(text: string): number {
  try {
    return parseJson(text).end;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.index;
    throw error;
  }
}

export function notJsonInput(name: string, bytes: Uint8Array): UsageError {
  const text = new TextDecoder().decode(bytes);
  const index = errorIndex(text);
  const input = { name, bytes, text, rest: text.slice(index), before: text.slice(0, index) };
  const row = mistakes.findIndex(([is]) => is(input));
  const [, what, hint] = mistakes[row] as InputMistake;
  const { line, column } = lineAndColumn(text, index);
  // The first ones are mistakes of the whole input.
  const where = row < 3 ? '' : `, at line ${line}, column ${column}`;
  return new UsageError(`--input: ${name} ${what}${where}`, { hint: hint(input) });
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
