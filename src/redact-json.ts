import type { Redact } from './redact.ts';

/** Matches the strings and numbers of JSON; the closing quote is optional so that matching takes linear time. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs;

/**
 * Redacts each string and number of JSON text separately, so that the result is valid JSON; a number that contains a
 * secret becomes a string. Everything else is unchanged.
 * @param json one or several texts that JSON.parse accepts
 */
export function redactJson(json: string, redact: Redact): string {
  if (redact(json) === json) return json;
  return json.replace(stringOrNumber, (token) => {
    const text = token.startsWith('"') ? (JSON.parse(token) as string) : token;
    const redacted = redact(text);
    return redacted === text ? token : JSON.stringify(redacted);
  });
}
