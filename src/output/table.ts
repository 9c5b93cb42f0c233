import { sanitize } from '../sanitize.ts';
import { columnsOf, wrap } from './wrap.ts';

/** What a table is made of: text as it came; it is made harmless here. */
export interface Table {
  head: readonly string[];
  rows: readonly (readonly string[])[];
  /** How many of the last columns are left out rather than that others become too narrow to read. */
  optional?: number;
}

/** Columns of space around a cell's text. */
const padding = 2;

/** Tab-separated values, a row a line: for pipes and logs. */
export function renderTsv(table: Table): string {
  return table.rows.map((row) => `${row.map(sanitize).join('\t')}\n`).join('');
}

/** Rows in columns of known widths, below their head where there is one. */
async function draw(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  widths: readonly number[],
): Promise<string> {
  const { default: Table3 } = await import('cli-table3');
  const cells = (row: readonly string[]) =>
    row.map((cell, index) => wrap(cell, (widths[index] ?? widths[0] ?? 0) - padding).join('\n'));
  const plain = { head: [], border: [] };
  const drawn = new Table3({
    head: cells(head),
    style: plain,
    colWidths: [...widths],
    chars: {
      top: '',
      'top-mid': '',
      'top-left': '',
      'top-right': '',
      bottom: '',
      'bottom-mid': '',
      'bottom-left': '',
      'bottom-right': '',
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: ' ',
    },
  });
  drawn.push(...rows.map(cells));
  const lines = drawn.toString().split('\n');
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** The last column takes what is left of the line: a later part may hold more. */
function withRest(widths: readonly number[], columns: number): number[] {
  const used = widths.reduce((sum, width) => sum + width, widths.length - 1);
  const last = (widths.at(-1) ?? 0) + Math.max(0, columns - used);
  return [...widths.slice(0, -1), last];
}

/**
 * A table for a terminal of a known width that comes in parts: the first says how wide the columns are, and has the
 * head. Long cells are wrapped, never the whole table broken.
 */
export function tableStream(columns: number): (part: Table) => Promise<string> {
  let widths: number[] | undefined;
  return (part) => {
    const clean = part.rows.map((row) => row.map(sanitize));
    const first = widths === undefined;
    widths ??= withRest(columnWidths([part.head, ...clean], columns, part.optional ?? 0), columns);
    const kept = widths.length;
    const rows = clean.map((row) => row.slice(0, kept));
    return draw(first ? part.head.slice(0, kept) : [], rows, widths);
  };
}

/** A table for a terminal of a known width. */
export function renderTable(table: Table, columns: number): Promise<string> {
  return tableStream(columns)(table);
}

/** A column that is wider than this is one that can be wrapped. */
const wrapped = 30;

/** Natural column widths, padding included. */
function naturalWidths(rows: readonly (readonly string[])[]): number[] {
  const widest = (index: number) =>
    rows.reduce((most, row) => Math.max(most, columnsOf(row[index] ?? '')), 0);
  return Array.from({ length: rows[0]?.length ?? 0 }, (_, index) => widest(index) + padding);
}

/** How much wider than the terminal the columns are, with a column of space between two. */
function excess(widths: readonly number[], columns: number): number {
  return widths.reduce((sum, width) => sum + width, widths.length - 1) - columns;
}

/** Column widths that fit the terminal: the last columns are left out first, then the widest give way. */
function columnWidths(rows: readonly (readonly string[])[], columns: number, optional: number): number[] {
  const widths = naturalWidths(rows);
  const needed = () =>
    excess(
      widths.map((width) => Math.min(width, wrapped)),
      columns,
    );
  for (let left = optional; left > 0 && needed() > 0; left -= 1) widths.pop();
  const least = 6;
  let over = excess(widths, columns);
  while (over > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? least;
    if (width <= least) break;
    const second = Math.max(least, ...widths.filter((_, index) => index !== widest));
    const cut = Math.min(over, Math.max(1, width - second));
    widths[widest] = width - cut;
    over -= cut;
  }
  return widths;
}
