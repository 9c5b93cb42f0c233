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

/** Adds the values of a header: one, a list of them (Node's record), or none. Two are enough to see a duplicate. */
function addValues(values: unknown[], value: unknown): void {
  if (Array.isArray(value)) values.push(...value.slice(0, 2));
  else if (value !== undefined && value !== null) values.push(value);
}

/** Compares names without regard to case; `wanted` is in lower case. */
function isSameName(given: string, wanted: string): boolean {
  return given === wanted || (given.length === wanted.length && given.toLowerCase() === wanted);
}

/** `Name, value, name, value` (Node's rawHeaders), or `[name, value]` pairs. */
function fromList(list: readonly unknown[], wanted: string): unknown[] {
  const values: unknown[] = [];
  const flat = typeof list[0] === 'string';
  for (let index = 0; index < list.length; index += flat ? 2 : 1) {
    const entry = flat ? [list[index], list[index + 1]] : list[index];
    if (!Array.isArray(entry) || typeof entry[0] !== 'string' || entry[1] === undefined) {
      badOption('a list of headers must alternate names and values, or hold [name, value] pairs');
    }
    if (isSameName(entry[0], wanted)) addValues(values, entry[1]);
  }
  return values;
}

function fromRecord(record: object, wanted: string): unknown[] {
  const values: unknown[] = [];
  for (const key of Object.keys(record)) {
    if (isSameName(key, wanted)) addValues(values, (record as Record<string, unknown>)[key]);
  }
  return values;
}

function headerValues(headers: unknown, name: string): unknown[] {
  if (typeof headers !== 'object' || headers === null) {
    badOption('headers must be Headers, a record or a list', 'pass request.headers');
  }
  const wanted = name.toLowerCase();
  if (Array.isArray(headers)) return fromList(headers, wanted);
  const { get, then } = headers as { get?: unknown; then?: unknown };
  if (typeof then === 'function' && then !== Reflect.get(Object.prototype, 'then'))
    badOption('headers is a promise', 'await it');
  // A plain record may have a header called "get", but only in Headers and Map is it a function.
  if (typeof get !== 'function' || get === Reflect.get(Object.prototype, 'get'))
    return fromRecord(headers, wanted);
  if (headers instanceof Map) return fromList([...headers], wanted);
  const values: unknown[] = [];
  addValues(values, get.call(headers, name));
  return values;
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
