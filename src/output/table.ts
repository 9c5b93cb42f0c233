import { sanitize } from './sanitize.ts';

/** What a table is made of: text as it came; it is made harmless here. */
export interface Table {
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

/** Tab-separated values, a row a line: for pipes and logs. */
export function renderTsv(table: Table): string {
  return table.rows.map((row) => `${row.map(sanitize).join('\t')}\n`).join('');
}

/** A table for a terminal of a known width; long cells are wrapped, never the whole table broken. */
export async function renderTable(table: Table, columns: number): Promise<string> {
  const { default: Table3 } = await import('cli-table3');
  const widths = fit(table, columns);
  const plain = { head: [], border: [] };
  const drawn = new Table3({
    head: [...table.head],
    style: plain,
    colWidths: widths,
    wordWrap: true,
    wrapOnWordBoundary: false,
    chars: {
      top: '', 'top-mid': '', 'top-left': '', 'top-right': '',
      bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '',
      left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: ' ',
    },
  });
  drawn.push(...table.rows.map((row) => row.map(sanitize)));
  const lines = drawn.toString().split('\n');
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Column widths, padding included, that fit the terminal: the widest columns give way first. */
function fit(table: Table, columns: number): number[] {
  const padding = 2;
  const widths = table.head.map((head, index) => {
    const cells = table.rows.map((row) => sanitize(row[index] ?? '').length);
    return Math.max(head.length, ...cells) + padding;
  });
  const gaps = table.head.length - 1;
  const least = 6;
  let over = widths.reduce((sum, width) => sum + width, gaps) - columns;
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
