import { isLosslessNumber, parse, stringify } from 'lossless-json';

/** A key that comes twice: the last one counts, as JSON.parse has it. */
const lastWins = { onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue };

/** JSON with its numbers as the text they came as. For printing: sums and comparisons want other types. */
export function parseExact(text: string): unknown {
  return parse(text, undefined, lastWins);
}

/**
 * What `parseExact` gave, as JSON text again, every number with its own digits.
 * @param replace gives each value and, as text, each number; a number that it changes becomes a string
 */
export function stringifyExact(
  value: unknown,
  indent: 0 | 2 = 0,
  replace: (name: string, value: unknown) => unknown = (_name, value) => value,
): string {
  const exact = (name: string, value: unknown) => {
    if (!isLosslessNumber(value)) return replace(name, value);
    const digits = value.toString();
    const replaced = replace(name, digits);
    return replaced === digits ? value : replaced;
  };
  return stringify(value, exact, indent) ?? 'null';
}

/** True for a value that is no object or array: also for a number that `parseExact` gave. */
export function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object' || isLosslessNumber(value);
}
