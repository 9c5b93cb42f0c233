import type { Table } from '../output/table.ts';

/** A value in one cell: text as it is, anything else as JSON. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '-');
}

/** One object, a field a row. */
export function fieldTable(value: unknown): Table {
  const head = ['FIELD', 'VALUE'];
  if (typeof value !== 'object' || value === null) return { head, rows: [['value', cell(value)]] };
  return { head, rows: Object.entries(value).map(([name, field]) => [name, cell(field)]) };
}
