import { setHeaders } from '../../client/request.ts';
import { UsageError } from '../../errors.ts';

/**
 * Parses the headers of the requests for the version page: one `Name: value` in each line, as curl's `--header @file` takes them.
 * @param what the subject of errors, which never contain a value
 * @throws UsageError
 */
export function parseHeaders(what: string, text: string): Record<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const colon = line.indexOf(':');
    if (colon > 0) return [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const];
    throw new UsageError(`${what}: line ${index + 1} is not a header`, {
      hint: 'write one header in each line, such as Authorization: Bearer <token>',
    });
  });
  return checkHeaders(what, Object.fromEntries(pairs));
}

/** Returns the headers with their names in lower case. @throws UsageError for one that cannot be sent */
export function checkHeaders(
  what: string,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const checked: Record<string, string> = {};
  setHeaders(checked, what, headers);
  return checked;
}
