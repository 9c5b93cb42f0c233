import { sanitize, sanitizeProse } from '../sanitize.ts';
import { columnsOf, wrapWords } from './text.ts';

/** Unsanitized text; the table sanitizes it. Null is an empty value, or `-` on a terminal. */
export type Cell = string | Prose | null;

/** Unsanitized text for people, which keeps the direction marks of right-to-left text: no key, id or name. */
export interface Prose {
  readonly prose: string;
}

/** Returns the cell with another text. */
export function withText(cell: Cell, change: (text: string) => string): Cell {
  if (cell === null) return null;
  return typeof cell === 'string' ? change(cell) : { prose: change(cell.prose) };
}

function shownText(cell: Cell, empty: string): string {
  return typeof cell === 'object' && cell !== null ? sanitizeProse(cell.prose) : sanitize(cell ?? empty);
}

export interface Table {
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** How many of the last columns may be left out so that the others stay readable. */
  optional?: number;
}

/** A row to draw. All texts must be sanitized. */
export interface DrawnRow {
  cells: readonly string[];
  /** Lines below the row. */
  below?: readonly string[];
  /** Colours or links a text. Texts below the row have the index after the last column. */
  style?(text: string, column: number): string;
}

/** The number of spaces between two columns. */
export const gap = 2;

/** Returns tab-separated values, one line per row, for pipes and logs. */
export function renderTsv(table: Table): string {
  return table.rows.map((row) => `${row.map((cell) => shownText(cell, '')).join('\t')}\n`).join('');
}

const borders =
  'top bottom left mid right top-mid top-left top-right bottom-mid bottom-left bottom-right left-mid mid-mid right-mid';
const noBorders = Object.fromEntries(borders.split(' ').map((name) => [name, '']));

/** Draws rows in columns of the given widths. Nothing is cut off: a longer word makes its line longer. */
export async function drawRows(rows: readonly DrawnRow[], widths: readonly number[]): Promise<string> {
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
  // cli-table3 truncates text that is wider than its column, and counts the address of a link. Widening the last column
  // is harmless, since nothing follows it.
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

type TextRows = readonly (readonly string[])[];

/** Returns the width that each column needs, by default so that no text is wrapped. */
export function naturalWidths(rows: TextRows, widthOf = columnsOf): number[] {
  return (rows[0] ?? []).map((_, at) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), 0),
  );
}

/** Returns the width of the longest word, which may be an id or an address. */
const longestWord = (text: string) => Math.max(...wrapWords(text, 1, '').map(columnsOf));

export const tableWidth = (widths: readonly number[]) =>
  widths.reduce((sum, width) => sum + width + gap, -gap);

/** Columns are left out before a column of text becomes narrower than this. */
const readable = 30;

const sanitized = (rows: Table['rows']): TextRows =>
  rows.map((row) => row.map((cell) => shownText(cell, '-')));

/** Returns how many columns fit if each is as narrow as is still readable. */
function roomFor(rows: TextRows, columns: number): number {
  const least = naturalWidths(rows, longestWord);
  const narrow = naturalWidths(rows).map((width, at) => Math.max(least[at] ?? 0, Math.min(width, readable)));
  return narrow.filter((_, at) => tableWidth(narrow.slice(0, at + 1)) <= columns).length;
}

/** Returns how many of a table's columns fit on a terminal of this width. */
export function columnsThatFit({ head, rows }: Table, columns: number): number {
  return roomFor(sanitized([head, ...rows]), columns);
}

/** Returns the column widths for a terminal. First drops the last columns, then wraps the widest texts. */
function columnWidths(rows: TextRows, columns: number, optional: number): number[] {
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
 * Returns a function that draws a table in parts for a terminal of the given width. The first part has the head and sets
 * the column widths. Long texts are wrapped between words; if a single word is too long, the table exceeds the terminal.
 */
export function tableStream(columns: number): (part: Table) => Promise<string> {
  let widths: number[] | undefined;
  return (part) => {
    const rows = sanitized(widths === undefined ? [part.head, ...part.rows] : part.rows);
    widths ??= columnWidths(rows, columns, part.optional ?? 0);
    // A later part widens a column only for a longer id; the last column gets the rest of the line.
    const least = naturalWidths(rows, longestWord);
    const others = widths.slice(0, -1).map((width, index) => Math.max(width, least[index] ?? 0));
    const rest = columns - tableWidth([...others, 0]);
    widths = [...others, Math.max(rest, least[others.length] ?? 0)];
    const count = widths.length;
    return drawRows(
      rows.map((row) => ({ cells: row.slice(0, count) })),
      widths,
    );
  };
}

export function renderTable(table: Table, columns: number): Promise<string> {
  return tableStream(columns)(table);
}
