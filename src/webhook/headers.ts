import { ownOptions } from '../own-options.ts';
import { badOption, WebhookVerificationError } from './error.ts';

/** The names of the two headers, in which `Service` stands for the vendor's name. */
export interface HeaderNames {
  timestamp: string;
  signature: string;
}

/** The default header names. */
export const defaultHeaderNames: HeaderNames = {
  timestamp: 'X-Service-Timestamp',
  signature: 'X-Service-Signature',
};

/**
 * Headers in any form of the runtimes: `Headers`, Node's record (values are text, arrays or undefined), pairs, or Node's
 * flat `rawHeaders`.
 */
export type HeadersInput =
  | { get(name: string): string | null; forEach: unknown }
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | readonly (readonly [string, string])[]
  | readonly string[];

function isPair(entry: unknown): entry is [string, unknown] {
  return Array.isArray(entry) && typeof entry[0] === 'string' && entry[1] !== undefined;
}

/** Returns pairs from `Name, value, name, value` (Node's rawHeaders), or checks a list of pairs. */
function pairsOf(list: readonly unknown[]): readonly [string, unknown][] {
  const isFlat = typeof list[0] === 'string';
  const pairs = isFlat
    ? list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1]]] : []))
    : list;
  if (pairs.every(isPair)) return pairs;
  badOption('a list of headers must alternate names and values, or hold [name, value] pairs');
}

/** Returns names and values; of `Headers` only the header that is wanted. */
function entriesOf(headers: unknown, name: string): Iterable<readonly [string, unknown]> {
  if (typeof headers !== 'object' || headers === null) {
    badOption('headers must be Headers, a record or a list', 'pass request.headers');
  }
  if (Array.isArray(headers)) return pairsOf(headers);
  if (headers instanceof Map) return headers;
  if (headers instanceof Promise) badOption('headers is a promise', 'await it');
  // A plain record may have a header called "get", but only in Headers it is a function.
  if ('get' in headers && typeof headers.get === 'function') return [[name, headers.get(name)]];
  return Object.entries(headers);
}

function headerValues(headers: unknown, name: string): unknown[] {
  const values = [];
  for (const [given, value] of entriesOf(headers, name)) {
    if (given.toLowerCase() === name.toLowerCase()) values.push(value);
  }
  return values.flat().filter((value) => value !== undefined && value !== null);
}

const isBlank = (code: number) => code === 32 || code === 9;

/** Removes the whitespace that HTTP allows around a value. No regex: `/[ \t]+$/` is quadratic on hostile input. */
export function trim(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start += 1;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

function single(headers: unknown, name: string): string {
  const values = headerValues(headers, name);
  if (values.length === 0) {
    throw new WebhookVerificationError(
      'missing_header',
      `the header ${name} is missing`,
      'if the service uses another name for it, set headerNames',
    );
  }
  const [value] = values;
  // Two headers of one name arrive joined by a comma, which neither value can contain.
  if (values.length > 1 || (typeof value === 'string' && value.includes(','))) {
    throw new WebhookVerificationError('duplicate_header', `the header ${name} is present more than once`);
  }
  if (typeof value !== 'string') badOption(`the header ${name} is not text`);
  return trim(value);
}

function headerName(names: Partial<HeaderNames>, which: keyof HeaderNames): string {
  const name: unknown = names[which];
  if (name === undefined) return defaultHeaderNames[which];
  if (typeof name === 'string' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return name;
  badOption(`headerNames.${which} is not a valid header name`);
}

function checkedNames(names: Partial<HeaderNames>): HeaderNames {
  return { timestamp: headerName(names, 'timestamp'), signature: headerName(names, 'signature') };
}

/** Returns the timestamp and the signature of a delivery as text. */
export function readDeliveryHeaders(headers: HeadersInput, names?: Partial<HeaderNames>): HeaderNames {
  if (names !== undefined && (typeof names !== 'object' || names === null)) {
    badOption('headerNames must be an object: { timestamp, signature }');
  }
  const { timestamp, signature } =
    names === undefined ? defaultHeaderNames : checkedNames(ownOptions(names, ['timestamp', 'signature']));
  return { timestamp: single(headers, timestamp), signature: single(headers, signature) };
}
