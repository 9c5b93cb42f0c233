import { isLosslessNumber, parse, stringify } from 'lossless-json';

/** Of a duplicate key the last value counts, as with JSON.parse. */
const lastWins = { onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue };

/** Parses JSON and keeps the text of each number. For printing only: sums and comparisons need other types. */
export function parseExact(text: string): unknown {
  return parse(text, undefined, lastWins);
}

/**
 * Returns a value of `parseExact` as JSON text, with the original digits of every number.
 * @param replace returns the value to write; it gets numbers as text, and a number that it changes becomes a string
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

/** Whether a value is neither an object nor an array; a number of `parseExact` is a scalar. */
export function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object' || isLosslessNumber(value);
}
