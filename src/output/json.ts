import { textsOf } from '../exact-fields.ts';
import { type Redact, redactNothing } from '../redact.ts';
import { redactJson } from '../redact-json.ts';
import { escapeJson } from '../sanitize.ts';

/** Never redacted: a secret that equals one of these words must not hide the verdict. */
const outcomes: readonly unknown[] = [
  ...['pass', 'warn', 'fail'],
  ...['passed', 'failed', 'blocked', 'cancelled', 'timeout', 'unobserved', 'mismatch'],
];

/** Returns a replacer for JSON.stringify that redacts each value and name separately, so that the JSON stays valid. */
function redacting(redact: Redact): (name: string, value: unknown) => unknown {
  return (_name, value) => {
    if (outcomes.includes(value)) return value;
    if (typeof value === 'string') return redact(value);
    if (typeof value === 'number')
      return redact(String(value)) === String(value) ? value : redact(String(value));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if (Object.keys(value).every((name) => redact(name) === name)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [redact(name), member]));
  };
}

/**
 * Returns a value as redacted JSON text with a newline, indented for people or in one line. Fields whose text `withTexts`
 * recorded keep their digits.
 */
export function renderJson(value: unknown, indent: 0 | 2, redact: Redact = redactNothing): string {
  const redacted = redacting(redact);
  const exact: string[] = [];
  function replacer(this: object, name: string, member: unknown): unknown {
    const texts = textsOf(this);
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined;
    if (text === undefined) return redact === redactNothing ? member : redacted(name, member);
    exact.push(redactJson(text, redact));
    return `\0${exact.length - 1}\0`;
  }
  const json = JSON.stringify(value, replacer, indent) ?? 'null';
  const filled = json.replace(/"\\u0000(\d{1,9})\\u0000"/g, (same, index) => exact[Number(index)] ?? same);
  return `${escapeJson(filled)}\n`;
}

/**
 * Formats the JSON of a response, redacted. Numbers keep their digits: `10.50` stays `10.50`, and a long id loses
 * none.
 */
export async function renderResponse(
  text: string,
  indent: 0 | 2,
  redact: Redact = redactNothing,
): Promise<string> {
  const { parseExact, stringifyExact } = await import('./exact.ts');
  const replacer = redact === redactNothing ? undefined : redacting(redact);
  return `${escapeJson(stringifyExact(parseExact(text), indent, replacer))}\n`;
}
