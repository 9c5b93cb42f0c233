import { parseUrl } from '../parse-url.ts';

/**
 * Returns one text for all spellings of a URL: `https://shop.example.com/` for `HTTPS://Shop.example.com:443`. Null for anything
 * but an http or https URL without a user name, a query and a fragment.
 */
export function plainUrl(text: unknown): string | null {
  // Parsers disagree on a backslash, and URL parsers ignore line breaks.
  if (typeof text !== 'string' || !/^https?:\/\/[^?#\\\s]+$/i.test(text.trim())) return null;
  const url = parseUrl(text.trim());
  return url?.username === '' && url.password === '' ? url.href : null;
}
