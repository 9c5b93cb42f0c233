import type { Redact } from './redact.ts';

/** The strings and the numbers of JSON; the quote at the end is optional for the sake of linear time. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs;

/**
 * Takes secrets out of each string and number of JSON text by itself, so that what is left is JSON: a number that is one
 * becomes a string. All else stays as it came.
 * @param json one text or several, each of which JSON.parse accepts
 */
export function redactJson(json: string, redact: Redact): string {
  if (redact(json) === json) return json;
  return json.replace(stringOrNumber, (token) => {
    const text = token.startsWith('"') ? (JSON.parse(token) as string) : token;
    const shown = redact(text);
    return shown === text ? token : JSON.stringify(shown);
  });
}
