import { ownCopy } from '../own-options.ts';
import { WebhookVerificationError } from './error.ts';

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

/** Returns the values of all headers of this name. */
function valuesOf(headers: HeadersInput, name: string): string[] {
  // A plain record may have a header called "get", but only in Headers it is a function.
  if ('get' in headers && typeof headers.get === 'function') return [headers.get(name) ?? []].flat();
  const entries = Array.isArray(headers) ? headers : Object.entries(headers);
  return entries
    .filter(([given]) => given.toLowerCase() === name.toLowerCase())
    .flatMap(([, value]) => value ?? []);
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

function single(headers: HeadersInput, name: string): string {
  const [value, ...others] = valuesOf(headers, name);
  if (value === undefined) {
    throw new WebhookVerificationError(
      'missing_header',
      `the header ${name} is missing`,
      'if the service uses another name for it, set headerNames',
    );
  }
  // Two headers of one name arrive joined by a comma, which neither value can contain.
  if (others.length > 0 || value.includes(',')) {
    throw new WebhookVerificationError('duplicate_header', `the header ${name} is present more than once`);
  }
  return trim(value);
}

/** Returns the timestamp and the signature of a delivery as text. */
export function readDeliveryHeaders(headers: HeadersInput, given: Partial<HeaderNames> = {}): HeaderNames {
  const { timestamp = defaultHeaderNames.timestamp, signature = defaultHeaderNames.signature } =
    ownCopy(given);
  return { timestamp: single(headers, timestamp), signature: single(headers, signature) };
}
