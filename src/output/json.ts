import { escapeJson } from '../sanitize.ts';

/** A value as JSON text with a newline: indented for people, or in one line. */
export function renderJson(value: unknown, indent: 0 | 2): string {
  return `${escapeJson(JSON.stringify(value, null, indent) ?? 'null')}\n`;
}

/**
 * A reply's own JSON, laid out anew, its numbers with the digits they came with: `10.50` stays `10.50`, and
 * no digit of a long id is lost.
 */
export async function renderReply(text: string, indent: 0 | 2): Promise<string> {
  const { parseExact, stringifyExact } = await import('./exact.ts');
  return `${escapeJson(stringifyExact(parseExact(text), indent))}\n`;
}
