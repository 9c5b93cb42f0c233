import { UsageError } from '../errors.ts';

/** Headers of the connection: by setting one, a caller could split the request in two. */
const connectionHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|expect|keep-alive|te|trailer|proxy-.*)$/;

/** Headers of a request to the service that have a meaning for rungate. */
const ownHeaders = /^(x-api-key|authorization|idempotency-key|content-.*|accept|accept-encoding)$/;

type Headers = Readonly<Record<string, string>>;

/**
 * Returns the headers with their names in lower case.
 * @param what the subject of errors, which never contain a value
 * @throws UsageError for one that cannot be sent
 */
export function checkHeaders(what: string, headers: Headers): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const [key, value] of Object.entries(headers)) {
    const lower = key.toLowerCase();
    // A text that is not a name may be a secret.
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(lower))
      throw new UsageError(`${what}: a header name contains an invalid character`);
    if (connectionHeaders.test(lower)) throw new UsageError(`${what}: "${key}" cannot be set as a header`);
    if (!/^[\x20-\x7e]*$/.test(value)) throw new UsageError(`${what}: header ${lower} must be visible ASCII`);
    checked[lower] = value;
  }
  return checked;
}

/** Returns extra headers of the requests to the service. @throws UsageError for one that rungate sets itself */
export function checkExtraHeaders(what: string, headers: Headers): Record<string, string> {
  const checked = checkHeaders(what, headers);
  const own = Object.keys(headers).find((name) => ownHeaders.test(name.toLowerCase()));
  if (own === undefined) return checked;
  throw new UsageError(`${what}: "${own}" cannot be set as a header`, { hint: 'rungate sets it itself' });
}

/**
 * Parses headers: one `Name: value` in each line, as curl's `--header @file` takes them.
 * @param what the subject of errors, which never contain a value
 * @throws UsageError
 */
export function parseHeaders(what: string, text: string): Record<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const colon = line.indexOf(':');
    if (colon > 0) return [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const];
    throw new UsageError(`${what}: line ${index + 1} is not a header`, {
      hint: 'write one header per line, such as X-Name: value',
    });
  });
  return Object.fromEntries(pairs);
}
