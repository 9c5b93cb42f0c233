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

/** Headers of a request: `Headers`, Node's record (values are text, arrays or undefined), or pairs. */
export type HeadersInput =
  | { get(name: string): string | null; forEach: unknown }
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | readonly (readonly [string, string])[];

function isPair(entry: unknown): entry is [string, unknown] {
  return Array.isArray(entry) && typeof entry[0] === 'string';
}

/** Returns names and values; of `Headers` only the header that is wanted. */
function entriesOf(headers: unknown, name: string): Iterable<readonly [string, unknown]> {
  if (typeof headers !== 'object' || headers === null || headers instanceof Promise) {
    badOption('headers must be Headers, a record or a list of pairs', 'pass request.headers');
  }
  if (Array.isArray(headers)) {
    if (headers.every(isPair)) return headers;
    badOption('a list of headers must hold [name, value] pairs', 'pass request.headers');
  }
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
  const { [which]: name = defaultHeaderNames[which] }: { [Name in keyof HeaderNames]?: unknown } = names;
  if (typeof name === 'string' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return name;
  badOption(`headerNames.${which} is not a valid header name`);
}

/** Returns the timestamp and the signature of a delivery as text. */
export function readDeliveryHeaders(headers: HeadersInput, names: Partial<HeaderNames> = {}): HeaderNames {
  if (typeof names !== 'object' || names === null) {
    badOption('headerNames must be an object: { timestamp, signature }');
  }
  const own = ownOptions(names, ['timestamp', 'signature']);
  return {
    timestamp: single(headers, headerName(own, 'timestamp')),
    signature: single(headers, headerName(own, 'signature')),
  };
}
