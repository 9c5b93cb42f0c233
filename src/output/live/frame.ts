import type { Size } from '../../host/terminal.ts';
import type { Line } from './model.ts';

/** What stands on the terminal: lines, below which the cursor rests, drawn when the terminal had a size. */
export interface Frame {
  lines: readonly Line[];
  size: Size;
}

const csi = '\u001b[';
const clearLine = `${csi}K`;
const clearBelow = `${csi}J`;

/** Shown in one go by terminals that know how; the cursor does not run about in the others, and is there again after. */
const begin = `${csi}?2026h${csi}?25l`;
const end = `${csi}?25h${csi}?2026l`;
/** A line that is wider than we think is cut off by the terminal, and does not become two. */
const noWrap = `${csi}?7l`;
const wrap = `${csi}?7h`;

/** Back to the first column of the frame's first row. */
function toTop(rows: number): string {
  return rows > 0 ? `\r${csi}${rows}A` : '\r';
}

/**
 * How many rows a frame takes now. Most terminals break lines anew when they become narrower, without telling; in
 * those that do not (`reflows` false) it is a row a line.
 */
export function rowsOf(frame: Frame, columns: number, reflows: boolean): number {
  if (!reflows || columns >= frame.size.columns) return frame.lines.length;
  return frame.lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.columns / columns)), 0);
}

/** In the last column there is nothing left to clear, and the cursor stands on what was written there. */
const drawn = ({ text, columns }: Line, { columns: width }: Size) =>
  `${text}${columns < width ? clearLine : ''}\r\n`;
const written = ({ lines, size }: Frame) => lines.map((line) => drawn(line, size)).join('');

/**
 * What turns one frame into the next; empty where nothing has changed. Lines are overwritten, not cleared first, and
 * those that are the same are left alone.
 */
export function redraw(before: Frame | null, next: Frame, reflows: boolean): string {
  const { columns, rows } = next.size;
  if (before === null) return `${begin}${noWrap}${written(next)}${wrap}${end}`;
  const up = toTop(rowsOf(before, columns, reflows));
  if (columns !== before.size.columns || rows !== before.size.rows) {
    return `${begin}${up}${clearBelow}${noWrap}${written(next)}${wrap}${end}`;
  }
  const same = (line: Line, index: number) => before.lines[index]?.text === line.text;
  if (before.lines.length === next.lines.length && next.lines.every(same)) return '';
  const lines = next.lines.map((line, index) => (same(line, index) ? '\r\n' : drawn(line, next.size)));
  return `${begin}${up}${noWrap}${lines.join('')}${clearBelow}${wrap}${end}`;
}

/** Takes the frame away, writes whole lines that stay in its place, and draws it again below them. */
export function writeAbove(before: Frame | null, text: string, next: Frame, reflows: boolean): string {
  const up = before === null ? '' : toTop(rowsOf(before, next.size.columns, reflows)) + clearBelow;
  const lines = text.replace(/\r?\n/g, '\r\n');
  return `${begin}${up}${lines}${noWrap}${written(next)}${wrap}${end}`;
}

/** Takes the frame away: the cursor is where it stood. */
export function erase(before: Frame, columns: number, reflows: boolean): string {
  return `${begin}${toTop(rowsOf(before, columns, reflows))}${clearBelow}${end}`;
}
