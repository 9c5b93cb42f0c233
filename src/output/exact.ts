import { isLosslessNumber, parse, stringify } from 'lossless-json';

/** A key that comes twice: the last one counts, as JSON.parse has it. */
const lastWins = { onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue };

/** JSON with its numbers as the text they came as. For printing: sums and comparisons want other types. */
export function parseExact(text: string): unknown {
  return parse(text, undefined, lastWins);
}

/** What `parseExact` gave, as JSON text again, every number with its own digits. */
export function stringifyExact(value: unknown, indent: 0 | 2 = 0): string {
  return stringify(value, null, indent) ?? 'null';
}

/** True for a value that is no object or array: also for a number that `parseExact` gave. */
export function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object' || isLosslessNumber(value);
}
