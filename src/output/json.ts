import { asItIs, type Conceal } from '../conceal.ts';
import { escapeJson } from '../sanitize.ts';

/** A secret that is one of these words must not change what a gate came to. */
const outcomes: readonly unknown[] = [
  ...['pass', 'warn', 'fail'],
  ...['passed', 'failed', 'blocked', 'cancelled', 'timeout', 'unobserved'],
];

/** Takes secrets out of each value and name by itself, so that what is left is JSON. */
function concealing(conceal: Conceal): (name: string, value: unknown) => unknown {
  return (_name, value) => {
    if (outcomes.includes(value)) return value;
    if (typeof value === 'string') return conceal(value);
    if (typeof value === 'number')
      return conceal(String(value)) === String(value) ? value : conceal(String(value));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if (Object.keys(value).every((name) => conceal(name) === name)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [conceal(name), member]));
  };
}

/** A value as JSON text with a newline and without secrets: indented for people, or in one line. */
export function renderJson(value: unknown, indent: 0 | 2, conceal: Conceal = asItIs): string {
  const replacer = conceal === asItIs ? undefined : concealing(conceal);
  return `${escapeJson(JSON.stringify(value, replacer, indent) ?? 'null')}\n`;
}

/**
 * A reply's own JSON, laid out anew, its numbers with the digits they came with: `10.50` stays `10.50`, and
 * no digit of a long id is lost. Without secrets.
 */
export async function renderReply(text: string, indent: 0 | 2, conceal: Conceal = asItIs): Promise<string> {
  const { parseExact, stringifyExact } = await import('./exact.ts');
  const replacer = conceal === asItIs ? undefined : concealing(conceal);
  return `${escapeJson(stringifyExact(parseExact(text), indent, replacer))}\n`;
}
