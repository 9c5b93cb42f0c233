import type { Schema } from './endpoint.ts';

/** A difference between a value and its schema. */
export interface Mismatch {
  /** The path: `orders[3].total`; empty for the whole value. */
  field: string;
  path: Path;
  /** The expected value, as a noun phrase: `a number`. */
  expected: string;
  /** The type of the value, and its beginning unless it is a secret. */
  received: string;
  /** The schema's own message, as a complete sentence. */
  sentence?: string;
}

type Path = readonly PropertyKey[];

/** `texts`: show numbers, booleans, and a word in place of another one; true: show only the types of values, because any may be an unknown secret. */
type Hidden = boolean | 'texts';

/** The used parts of a zod issue; zod/mini has no messages. */
interface Issue {
  readonly code: string;
  readonly path: Path;
  readonly message: string;
  readonly expected?: string;
  readonly origin?: string;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly format?: string;
  readonly keys?: readonly string[];
  readonly values?: readonly unknown[];
  readonly errors?: readonly (readonly Issue[])[];
}

const types: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

export const zonedDateTime = 'a date, or a date and time with a zone';
export const noSuchField = 'no such field';

const formats: Readonly<Record<string, string>> = {
  datetime: 'an ISO 8601 date and time',
  'date-time': zonedDateTime,
};

/** Names of fields whose values no error shows. */
export const secretName =
  /api.?key|secret|token|passw|passphrase|private.?key|credential|authorization|signature/i;

function pathText(path: Path): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return parts.join('').replace(/^\./, '');
}

/** A wrong word, which can hardly be a misplaced secret. */
const word = /^[a-z-]{1,12}$/i;

const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, part) => Object(value)[part], root);

const beginning = (text: string, limit: number) => (text.length > limit ? `${text.slice(0, limit)}…` : text);

/** Returns a value's type and, unless it is long or a secret, the value: `string "12.50"`, `an array of 3`, `nothing`. */
export function received(value: unknown, path: Path = [], hidden: Hidden = false): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (typeof value === 'object') {
    const keys = Object.keys(value);
    if (keys.length === 0) return 'an empty object';
    if (hidden === 'texts') return 'an object';
    const some = keys.slice(0, 8).map((key) => beginning(key, 40));
    return `an object with ${some.join(', ')}${keys.length > 8 ? ', …' : ''}`;
  }
  const isText = typeof value !== 'number' && typeof value !== 'boolean';
  const isSecret = path.some((part) => secretName.test(String(part)));
  if (hidden === true || isSecret || (hidden === 'texts' && isText)) return `a ${typeof value}`;
  // JSON has no such number: JSON.parse returns it for a larger one.
  if (hidden === false && typeof value === 'number' && Math.abs(value) === Number.POSITIVE_INFINITY)
    return 'a number beyond 1.8e308';
  const short = beginning(String(value), 60);
  return `${typeof value} ${typeof value === 'string' ? JSON.stringify(short) : short}`;
}

/** Returns whether zod refused a number only because JavaScript rounds it. */
function isLarge(issue: Issue, root: unknown): boolean {
  const value = valueAt(root, issue.path);
  if (typeof value !== 'number') return false;
  if (issue.code === 'invalid_type') return Math.abs(value) === Number.POSITIVE_INFINITY;
  return issue.maximum === Number.MAX_SAFE_INTEGER || issue.minimum === Number.MIN_SAFE_INTEGER;
}

function expectedOf({
  code,
  message,
  expected,
  origin = '',
  minimum,
  maximum,
  format,
  values,
}: Issue): string {
  // Prefer the schema's own message.
  const own = /^expected (.+)$/.exec(message)?.[1];
  if (own !== undefined) return own;
  const type = types[origin] ?? 'a value';
  switch (code) {
    case 'invalid_type':
      return types[expected ?? ''] ?? `${expected}`;
    case 'invalid_format':
      return formats[format ?? ''] ?? `a valid ${format}`;
    case 'invalid_value':
      return `one of ${(values ?? []).map(String).join(', ')}`;
    case 'too_small':
      return minimum === 1 && /^(?:string|array)$/.test(origin)
        ? `a non-empty ${origin}`
        : `${type} of at least ${minimum}`;
    case 'too_big':
      return `${type} of at most ${maximum}`;
    default:
      return 'a valid value';
  }
}

type Found = Pick<Mismatch, 'path' | 'expected' | 'sentence'>;

function describe(issue: Issue): Found[] {
  const { code, path, message } = issue;
  if (code === 'unrecognized_keys')
    return (issue.keys ?? []).map((key) => ({ path: [...path, key], expected: noSuchField }));
  if (code === 'custom') return [{ path, expected: expectedOf(issue), sentence: message }];
  if (code !== 'invalid_union') return [{ path, expected: expectedOf(issue) }];
  const branches = (issue.errors ?? []).map((errors) =>
    errors.map((inner) => ({ ...inner, path: [...path, ...inner.path] })),
  );
  // The branch that matched furthest is the intended one; without one, list all of them.
  const depth = (branch: readonly Issue[]) => Math.max(...branch.map((inner) => inner.path.length), 0);
  const deepest = branches.toSorted((a, b) => depth(b) - depth(a))[0];
  if (deepest !== undefined && depth(deepest) > path.length) return deepest.flatMap(describe);
  return [{ path, expected: branches.flat().map(expectedOf).join(' or ') }];
}

interface MismatchOptions {
  /** The place of the value in a larger one. */
  at?: Path;
  hidden?: Hidden | undefined;
  /** The service sent the value, so its numbers may have any size. */
  sent?: boolean;
}

/** Returns the differences between a value and its schema, in the order of the schema. */
export function mismatches(
  schema: Schema<unknown, unknown>,
  value: unknown,
  { at = [], hidden = false, sent = false }: MismatchOptions = {},
): Mismatch[] {
  const issues = (schema.safeParse(value).error?.issues ?? []) as readonly Issue[];
  return issues
    .filter((issue) => !sent || !isLarge(issue, value))
    .flatMap(describe)
    .map((found) => {
      const path = [...at, ...found.path];
      const wrong = valueAt(value, found.path);
      const isWord = found.expected.startsWith('one of ') && typeof wrong === 'string' && word.test(wrong);
      const what = received(wrong, found.path, hidden === 'texts' && isWord ? false : hidden);
      return { ...found, path, field: pathText(path), received: what };
    });
}

/** Returns a mismatch as a sentence about a name: `field tags must be an array, not "a"`. */
export function faultOf({ expected, received, sentence = 'expected ' }: Mismatch, name: string): string {
  if (expected === noSuchField) return `${name} is unknown`;
  if (!sentence.startsWith('expected ')) return sentence;
  if (received === 'nothing') return `${name} is missing (${expected})`;
  // Quotes, or their absence, show the type of the value.
  return `${name} must be ${expected}, not ${received.replace(/^(?:string|number|boolean) /, '')}`;
}
