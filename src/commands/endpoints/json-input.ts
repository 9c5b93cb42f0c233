import { parse } from '@humanwhocodes/momoa';
import { UsageError } from '../../errors.ts';

/** An `--input` that is not JSON. */
interface Given {
  /** The name for messages: the path, or standard input. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The text from the first error on, and the text before it, if the place is known. */
  readonly rest: string;
  readonly before: string;
}

type Mistake = readonly [is: (given: Given) => boolean, what: string, hint: (given: Given) => string];

const quoted = 'write names and texts in double quotes: {"name": "value"}';

/** The likely mistakes, most certain first. No message quotes the input, which may contain a secret. */
const mistakes: readonly Mistake[] = [
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

/** Returns the line and column of the first error, from 1; undefined if the parser does not report them. */
function placeIn(text: string): { line: number; column: number } | undefined {
  try {
    parse(text, { mode: 'json' });
    return undefined;
  } catch (error) {
    const { line, column } = error as { line?: number; column?: number };
    return line === undefined || column === undefined ? undefined : { line, column };
  }
}

/** Returns the error for an `--input` that is not JSON: the likely mistake, its place, and the remedy. */
export function notJsonInput(name: string, bytes: Uint8Array): UsageError {
  const text = new TextDecoder().decode(bytes);
  const place = placeIn(text);
  const lines = text.split(/(?<=\n)/);
  const { line, column } = place ?? { line: lines.length + 1, column: 1 };
  const offset = lines.slice(0, line - 1).join('').length + column - 1;
  const given = { name, bytes, text, rest: text.slice(offset), before: text.slice(0, offset) };
  const [index, found] = [...mistakes.entries()].find(([, [is]]) => is(given)) ?? [];
  const [, what, hint] = found ?? (mistakes.at(-1) as Mistake);
  // The first ones are mistakes of the whole input.
  const at = place === undefined || (index ?? 0) < 3 ? '' : `, at line ${line}, column ${column}`;
  return new UsageError(`--input: ${name} ${what}${at}`, { hint: hint(given) });
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

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

/** Returns the error for an `--input` that cannot be read. */
export function unreadableInput(path: string, cause: unknown): UsageError {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException;
  const [, what, hint] = (code === 'EISDIR' ? undefined : notPaths.find(([is]) => is.test(path))) ?? [];
  if (what !== undefined) return new UsageError(`--input: ${what}`, { hint });
  return new UsageError(`--input: ${path} cannot be read: ${reasons[code] ?? code}`, {
    hint: 'give a JSON file with the body, or - for standard input',
    cause,
  });
}
