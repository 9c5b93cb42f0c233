import type { Schema } from '../contract/endpoint.ts';
import { isOpen, isRequired } from '../contract/shape.ts';
import { UnexpectedResponseError, type UnexpectedResponseErrorParts } from '../errors.ts';

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

const formats: Readonly<Record<string, string>> = {
  datetime: 'an ISO 8601 date and time',
  'date-time': zonedDateTime,
};

/** Names of fields whose values no error shows. */
export const secretName =
  /api.?key|secret|token|passw|passphrase|private.?key|credential|authorization|signature/i;

function pathText(path: Path): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

function valueAt(root: unknown, path: Path): unknown {
  let value: unknown = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

function beginning(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

/** Returns a value's type and, unless it is long or a secret, the value: `string "12.50"`, `an array of 3`, `nothing`. */
export function received(value: unknown, path: Path = [], hidden = false): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (typeof value === 'number' && Math.abs(value) === Number.POSITIVE_INFINITY)
    return 'a number beyond 1.8e308';
  if (typeof value === 'object') {
    const keys = Object.keys(value);
    const some = keys.slice(0, 8).map((key) => beginning(key, 40));
    return keys.length === 0
      ? 'an empty object'
      : `an object with ${some.join(', ')}${keys.length > 8 ? ', …' : ''}`;
  }
  if (value === '') return 'an empty string';
  if (hidden || path.some((part) => secretName.test(String(part)))) return typeof value;
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

function expectedOf(issue: Issue): string {
  // Prefer the schema's own message.
  const message = /^expected (.+)$/.exec(issue.message)?.[1];
  if (message !== undefined) return message;
  if (issue.code === 'invalid_type') return types[issue.expected ?? ''] ?? `${issue.expected}`;
  if (issue.code === 'invalid_format') return formats[issue.format ?? ''] ?? `a valid ${issue.format}`;
  if (issue.code === 'invalid_value') return `one of ${(issue.values ?? []).map(String).join(', ')}`;
  if (issue.code === 'too_small') {
    const sized = issue.origin === 'string' || issue.origin === 'array';
    if (sized && Number(issue.minimum) === 1) return `a non-empty ${issue.origin}`;
    return `${types[issue.origin ?? ''] ?? 'a value'} of at least ${issue.minimum}`;
  }
  if (issue.code === 'too_big')
    return `${types[issue.origin ?? ''] ?? 'a value'} of at most ${issue.maximum}`;
  return 'a valid value';
}

function describe(issue: Issue, root: unknown, hidden: boolean): Omit<Mismatch, 'field'>[] {
  const mismatch = (path: Path, expected: string): Omit<Mismatch, 'field'> => ({
    path,
    expected,
    received: received(valueAt(root, path), path, hidden),
  });
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => mismatch([...issue.path, key], 'no such field'));
  }
  if (issue.code === 'custom')
    return [{ ...mismatch(issue.path, expectedOf(issue)), sentence: issue.message }];
  if (issue.code !== 'invalid_union') return [mismatch(issue.path, expectedOf(issue))];
  const branches = (issue.errors ?? []).map((errors) =>
    errors.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })),
  );
  // The branch that matched furthest is the intended one; without one, list all of them.
  const depth = (branch: readonly Issue[]) => Math.max(...branch.map((inner) => inner.path.length), 0);
  const deepest = branches.toSorted((a, b) => depth(b) - depth(a))[0];
  if (deepest !== undefined && depth(deepest) > issue.path.length) {
    return deepest.flatMap((inner) => describe(inner, root, hidden));
  }
  return [mismatch(issue.path, branches.flat().map(expectedOf).join(' or '))];
}

interface MismatchOptions {
  at?: Path;
  /** Show only the types of values, because any value may be an unknown secret. */
  hidden?: boolean | undefined;
  /** The service sent the value, so its numbers may have any size. */
  sent?: boolean;
}

export function mismatches(
  schema: Schema,
  value: unknown,
  { at = [], hidden = false, sent = false }: MismatchOptions = {},
): Mismatch[] {
  const result = schema.safeParse(value);
  if (result.success) return [];
  return (result.error.issues as unknown as Issue[])
    .filter((issue) => !sent || !isLarge(issue, value))
    .flatMap((issue) => describe(issue, value, hidden))
    .map((mismatch) => {
      const path = [...at, ...mismatch.path];
      return { ...mismatch, path, field: pathText(path) };
    });
}

/**
 * @param request the request as the user knows it: `GET /api/environments`
 * @param more the number of other mismatches
 */
export function mismatchText(
  request: string,
  { field, expected, received }: Omit<Mismatch, 'path'>,
  more = 0,
): string {
  const what =
    received === 'nothing'
      ? `${field === '' ? 'it' : field} is missing: expected ${expected}`
      : `${field === '' ? '' : `${field}: `}expected ${expected}, received ${received}`;
  const others = more > 0 ? ` (and ${more} more)` : '';
  return `the response to ${request} does not match the API: ${what}${others}`;
}

export function mismatchError(
  request: string,
  parts: UnexpectedResponseErrorParts,
  more = 0,
): UnexpectedResponseError {
  return new UnexpectedResponseError(mismatchText(request, parts, more), parts);
}

/** Values without a JSON form: JSON omits them, or writes null, which clears the field. */
const noJson = /^(?:function|symbol|number NaN)/;

/**
 * Returns the optional fields of a body that do not match the API. If the body may have unknown fields, these are sent
 * unchanged: a response may have had them in this form.
 */
export function looseFields(schema: Schema, body: unknown): Mismatch[] {
  if (!isOpen(schema)) return [];
  return mismatches(schema, body).filter(
    ({ path, sentence, received }) =>
      sentence === undefined && !isRequired(schema, path) && !noJson.test(received),
  );
}
