import { gap } from '../table.ts';
import { columnsOf, shorten } from '../text.ts';
import { clockTime, type FittedColumn, fitColumns } from './columns.ts';
import { type LiveModel, type LiveRun, type LiveStyle, marks, type Size } from './model.ts';

/** Which runs are shown first if not all fit: those that are still going, then those that failed. */
const weight: Readonly<Record<LiveRun['phase'], number>> = {
  going: 0,
  fail: 1,
  skipped: 2,
  warn: 3,
  waiting: 4,
  pass: 5,
};

/** Returns the runs that fit into the lines, in their original order, and whether a heading fits. */
function chosenRuns(runs: readonly LiveRun[], lines: number): { shown: LiveRun[]; head: boolean } {
  const head = lines > Math.min(runs.length, 2);
  const ranked = runs.toSorted((a, b) => weight[a.phase] - weight[b.phase]);
  const fitting = new Set(ranked.slice(0, head ? lines - 1 : lines));
  return { shown: runs.filter((run) => fitting.has(run)), head };
}

/** Returns the summary line of all runs, with the parts that fit, the most important first. */
function summaryLine(
  { runs, elapsedMs }: LiveModel,
  hidden: number,
  columns: number,
  symbols: boolean,
): string {
  const going = runs.filter(({ phase }) => phase === 'going').length;
  /** The number of runs by verdict, in the order in which the verdicts appeared. */
  const verdicts = new Map<string, number>();
  for (const { phase, state } of runs) {
    if (phase === 'waiting') verdicts.set(phase, (verdicts.get(phase) ?? 0) + 1);
    else if (phase !== 'going') verdicts.set(state, (verdicts.get(state) ?? 0) + 1);
  }
  const parts = [
    runs.length === 1 ? 'waiting for 1 run' : `${going} of ${runs.length} running`,
    hidden === 0 ? '' : `${hidden} not shown`,
    [...verdicts].map(([verdict, count]) => `${count} ${verdict}`).join(', '),
    clockTime(elapsedMs),
  ].filter((part) => part !== '');
  const dot = symbols ? ' · ' : ', ';
  const line = parts.reduce((text, part) =>
    columnsOf(text + dot + part) > columns ? text : text + dot + part,
  );
  return shorten(line, columns);
}

/** Pads a text to its column. The padding is neither linked nor coloured. */
function inColumn(text: string, column: FittedColumn, paint: (text: string) => string): string {
  const { width, left = false, cut = shorten } = column;
  const short = cut(text, width);
  const space = ' '.repeat(width - columnsOf(short));
  return left ? paint(short) + space : space + paint(short);
}

function liveRow(mark: string, cells: readonly string[]): string {
  return `${mark} ${cells.join(' '.repeat(gap))}`.trimEnd();
}

function runRow(run: LiveRun, columns: readonly FittedColumn[], { paint, link, symbols }: LiveStyle): string {
  const { tone, symbol, plain } = marks[run.trouble ? 'warn' : run.phase];
  const cells = columns.map((column) => {
    const cell = column.cell(run);
    return inColumn(cell.text, column, (text) => {
      const painted = cell.tone === undefined ? text : paint(cell.tone, text);
      return cell.url && link !== null ? link(cell.url, painted) : painted;
    });
  });
  return liveRow(paint(tone, symbols ? symbol : plain), cells);
}

/** Never wider than the terminal and at least one row shorter. The first line leaves two columns for the spinner. */
export function liveLines(model: LiveModel, { columns, rows }: Size, style: LiveStyle): string[] {
  const height = rows - 1;
  if (height < 1 || columns < 3 || model.runs.length === 0) return [];
  const { shown, head } = chosenRuns(model.runs, height - 1);
  const fitted = fitColumns(shown, columns, style.link !== null);
  const heads = fitted.map((column) => inColumn(column.head, column, (text) => text));
  return [
    summaryLine(model, model.runs.length - shown.length, columns - 2, style.symbols),
    ...(head ? [style.paint('dim', liveRow(' ', heads))] : []),
    ...shown.map((run) => runRow(run, fitted, style)),
  ];
}
