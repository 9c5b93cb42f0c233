import { isScalar, parseExact, stringifyExact } from '../../output/exact.ts';
import type { Table } from '../../output/table.ts';

/** A value in one cell: text as it is, a number with the digits it came with, anything else as JSON. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return typeof value === 'string' ? value : stringifyExact(value);
}

/** A reply of one object, a field a row. */
export function fieldTable(text: string): Table {
  const head = ['FIELD', 'VALUE'];
  const value = parseExact(text);
  if (isScalar(value)) return { head, rows: [['value', cell(value)]] };
  return { head, rows: Object.entries(value as object).map(([name, field]) => [name, cell(field)]) };
}
