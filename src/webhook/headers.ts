import { WebhookVerificationError } from './error.ts';

/** Header names of a delivery; the interface writes them with a neutral word for the vendor's (section 6). */
export interface HeaderNames {
  timestamp: string;
  signature: string;
}

export const defaultHeaderNames: HeaderNames = {
  timestamp: 'X-Service-Timestamp',
  signature: 'X-Service-Signature',
};

/**
 * Headers as the runtimes have them: `Headers`, Node's record (values text, arrays or undefined), pairs, or Node's flat
 * `rawHeaders`.
 */
export type HeadersInput =
  | { get(name: string): string | null; forEach: unknown }
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | readonly (readonly [string, string])[]
  | readonly string[];

function fail(
  code: 'missing_header' | 'duplicate_header' | 'bad_option',
  message: string,
  hint?: string,
): never {
  throw new WebhookVerificationError(code, message, hint);
}

/** Every value that a name has, in any of the forms that headers come in. */
function valuesOf(headers: HeadersInput, name: string): unknown[] {
  if (typeof headers !== 'object' || headers === null) {
    fail('bad_option', 'headers must be Headers, a record or a list', 'pass request.headers');
  }
  const wanted = name.toLowerCase();
  const same = (given: unknown) => typeof given === 'string' && given.toLowerCase() === wanted;
  if (Array.isArray(headers)) {
    if (headers.every((entry) => typeof entry === 'string')) {
      return headers.filter((_value, index) => index % 2 === 1 && same(headers[index - 1]));
    }
    return headers
      .filter((entry) => Array.isArray(entry) && same(entry[0]))
      .map((entry) => (entry as unknown[])[1]);
  }
  const { get } = headers as { get?: unknown };
  // A plain record may have a header of the name "get"; only Headers has it as a function.
  if (typeof get === 'function') {
    const value: unknown = get.call(headers, name);
    return value === null || value === undefined ? [] : [value];
  }
  return Object.entries(headers)
    .filter(([given]) => same(given))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter((value) => value !== undefined);
}

/** The one value of a header, without the white space around it that HTTP allows. */
function single(headers: HeadersInput, name: string): string {
  const values = valuesOf(headers, name);
  if (values.length === 0) {
    fail(
      'missing_header',
      `the header ${name} is missing`,
      'if the service names it otherwise, set headerNames',
    );
  }
  const [value] = values;
  // Two headers of one name arrive joined by a comma, which neither value can hold.
  if (values.length > 1 || (typeof value === 'string' && value.includes(','))) {
    fail('duplicate_header', `the header ${name} came more than once`);
  }
  if (typeof value !== 'string') fail('bad_option', `the header ${name} is not text`);
  return value.replace(/^[ \t]+|[ \t]+$/g, '');
}

function headerName(names: Partial<HeaderNames> | undefined, which: keyof HeaderNames): string {
  const name: unknown = names?.[which] ?? defaultHeaderNames[which];
  if (typeof name === 'string' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return name;
  fail('bad_option', `headerNames.${which} is not a header's name`);
}

/** The timestamp and the signature of a delivery, as text. */
export function readHeaders(headers: HeadersInput, names?: Partial<HeaderNames>): HeaderNames {
  const [timestamp, signature] = [headerName(names, 'timestamp'), headerName(names, 'signature')];
  return { timestamp: single(headers, timestamp), signature: single(headers, signature) };
}
