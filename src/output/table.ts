import { sanitize } from '../sanitize.ts';
import { columnsOf, wrapWords } from './text.ts';

/** Text as it came; it is made harmless here. Null where there is none: an empty value, or `-` on a terminal. */
export type Cell = string | null;

export interface Table {
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** How many of the last columns are left out rather than that others become too narrow to read. */
  optional?: number;
}

/** A row as it is drawn. All texts are harmless already. */
export interface Row {
  cells: readonly string[];
  /** What stands below the row, a line each. */
  below?: readonly string[];
  /** Paints a text, or links it; the texts below the row have the number of the column after the last. */
  style?(text: string, column: number): string;
}

/** Columns of space between two columns. */
export const gap = 2;

/** Tab-separated values, a row a line: for pipes and logs. */
export function renderTsv(table: Table): string {
  return table.rows.map((row) => `${row.map((cell) => sanitize(cell ?? '')).join('\t')}\n`).join('');
}

const borders =
  'top bottom left mid right top-mid top-left top-right bottom-mid bottom-left bottom-right left-mid mid-mid right-mid';
const noBorders = Object.fromEntries(borders.split(' ').map((name) => [name, '']));

/** Draws rows in columns of known widths. A text with a wider word makes its line longer: nothing is cut off. */
export async function drawRows(rows: readonly Row[], widths: readonly number[]): Promise<string> {
  const { default: Table3 } = await import('cli-table3');
  const last = widths.length - 1;
  const drawn = rows.flatMap(({ cells, below = [], style = (text) => text }) => [
    cells.map((cell, column) =>
      wrapWords(cell, widths[column] ?? 0, '')
        .map((line) => style(line, column))
        .join('\n'),
    ),
    ...below.map((text) => [{ colSpan: widths.length, content: style(text, widths.length) }]),
  ]);
  // cli-table3 cuts what is wider than its column, and counts a link's address as text. To the right of the last
  // column there is nothing that it could push away.
  const room = drawn.reduce((most, row) => {
    const cell = row.length === widths.length ? row[last] : row[0];
    return Math.max(most, (typeof cell === 'string' ? cell : (cell?.content ?? '')).length);
  }, widths[last] ?? 0);
  const table = new Table3({
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': gap - 1 },
    chars: { ...noBorders, middle: ' ' },
    colWidths: widths.map((width, column) => (column === last ? room : width) + gap - 1),
  });
  table.push(...drawn);
  const lines = table.toString().split('\n');
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

type Texts = readonly (readonly string[])[];

/** How wide columns are in which nothing has to be broken, or by another measure of a text. */
export function naturalWidths(rows: Texts, widthOf = columnsOf): number[] {
  return (rows[0] ?? []).map((_, at) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), 0),
  );
}

/** As wide as the longest word, which may be an id or an address. */
const longestWord = (text: string) => Math.max(...wrapWords(text, 1, '').map(columnsOf));

/** How wide a table is that has columns of these widths. */
export const tableWidth = (widths: readonly number[]) =>
  widths.reduce((sum, width) => sum + width + gap, -gap);

/** A column of text is not made narrower than this while columns can be left out instead. */
const readable = 30;

const harmless = (rows: Table['rows']): Texts => rows.map((row) => row.map((cell) => sanitize(cell ?? '-')));

/** How many of the columns have room where each is as narrow as it can be read. */
function roomFor(rows: Texts, columns: number): number {
  const least = naturalWidths(rows, longestWord);
  const narrow = naturalWidths(rows).map((width, at) => Math.max(least[at] ?? 0, Math.min(width, readable)));
  return narrow.filter((_, at) => tableWidth(narrow.slice(0, at + 1)) <= columns).length;
}

/** How many of a table's columns have room on a terminal of this width. */
export function columnsThatFit({ head, rows }: Table, columns: number): number {
  return roomFor(harmless([head, ...rows]), columns);
}

/** Column widths for a terminal: the last columns are left out first, then the widest texts are broken. */
function columnWidths(rows: Texts, columns: number, optional: number): number[] {
  const count = (rows[0]?.length ?? 0) - optional;
  const widths = naturalWidths(rows).slice(0, Math.max(count, roomFor(rows, columns)));
  const least = naturalWidths(rows, longestWord);
  for (let over = tableWidth(widths) - columns; over > 0; over -= 1) {
    const spare = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) break;
    widths[spare.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/**
 * A table for a terminal of a known width that comes in parts: the first says how wide the columns are, and has the
 * head. Long texts are broken between words; where one word is too long, the table is wider than the terminal.
 */
export function tableStream(columns: number): (part: Table) => Promise<string> {
  let widths: number[] | undefined;
  return (part) => {
    const rows = harmless(widths === undefined ? [part.head, ...part.rows] : part.rows);
    widths ??= columnWidths(rows, columns, part.optional ?? 0);
    // Only a longer id in a later part makes a column wider; the last one has what is left of the line.
    const least = naturalWidths(rows, longestWord);
    const others = widths.slice(0, -1).map((width, index) => Math.max(width, least[index] ?? 0));
    const rest = columns - tableWidth([...others, 0]);
    widths = [...others, Math.max(rest, least[others.length] ?? 0)];
    const kept = widths.length;
    return drawRows(
      rows.map((row) => ({ cells: row.slice(0, kept) })),
      widths,
    );
  };
}

/** A table for a terminal of a known width. */
export function renderTable(table: Table, columns: number): Promise<string> {
  return tableStream(columns)(table);
}
