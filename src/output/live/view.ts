import type { Tone } from '../paint.ts';
import { type Column, type ColumnName, fitColumns, gap, heads } from './columns.ts';
import type { LiveModel, LiveRun, LiveStyle, Size } from './model.ts';
import { clockTime, columnsOf, pad, shorten, shortenMiddle } from './text.ts';

const marks = {
  going: { tone: 'busy', fine: '•', plain: '*' },
  pass: { tone: 'good', fine: '✓', plain: '+' },
  warn: { tone: 'warn', fine: '!', plain: '!' },
  fail: { tone: 'bad', fine: '✗', plain: 'x' },
} as const satisfies Record<LiveRun['phase'], { tone: Tone; fine: string; plain: string }>;

/** A text and how it is painted: painted last, since colours have no width. */
interface Cell {
  text: string;
  tone?: Tone | undefined;
  url?: string | null;
}

const unknown: Cell = { text: '-', tone: 'dim' };

function countCell(count: number | null, tone: Tone): Cell {
  return count === null ? unknown : { text: String(count), tone: count > 0 ? tone : undefined };
}

/** Rounded up: at 0 it is time, not a second before. */
function nextText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 0) return 'now';
  return seconds < 60 ? `${seconds} s` : clockTime(seconds * 1000);
}

const cellOf: Readonly<Record<ColumnName, (run: LiveRun) => Cell>> = {
  run: (run) => ({ text: run.name, url: run.url }),
  state: (run) => ({ text: run.state, tone: run.phase === 'going' ? undefined : marks[run.phase].tone }),
  failed: (run) => countCell(run.failed, 'bad'),
  blocked: (run) => countCell(run.blocked, 'warn'),
  attempt: (run) => ({ text: run.attempt }),
  elapsed: (run) => ({ text: clockTime(run.elapsedMs) }),
  next: (run) => (run.nextMs === null ? { text: '' } : { text: nextText(run.nextMs) }),
  url: (run) => ({ text: run.url ?? '', tone: 'dim' }),
};

const leftAligned: readonly ColumnName[] = ['run', 'state', 'url'];

function draw(cell: Cell, { name, width }: Column, style: LiveStyle): string {
  const text = name === 'run' ? shortenMiddle(cell.text, width) : shorten(cell.text, width);
  const painted = cell.tone === undefined ? text : style.paint(cell.tone, text);
  const linked = cell.url && style.link !== null ? style.link(cell.url, painted) : painted;
  // The space around a text is no part of the link, nor of the colour.
  const space = ' '.repeat(width - columnsOf(text));
  return leftAligned.includes(name) ? linked + space : space + linked;
}

function lineOf(mark: string, cells: readonly string[]): string {
  return `${mark} ${cells.join(' '.repeat(gap))}`.trimEnd();
}

function markOf(run: LiveRun, { paint, symbols }: LiveStyle): string {
  const { tone, fine, plain } = marks[run.trouble ? 'warn' : run.phase];
  return paint(tone, symbols ? fine : plain);
}

/** What is shown first where there is no room for all: what goes on, then what went wrong. */
const weight: Readonly<Record<LiveRun['phase'], number>> = { going: 0, fail: 1, warn: 2, pass: 3 };

/**
 * The runs that have room in so many lines, in their own order, and whether there is room for a heading. A line that
 * sums them up comes first.
 */
function chosen(runs: readonly LiveRun[], height: number): { shown: LiveRun[]; head: boolean } {
  const forRuns = height - 1;
  const head = forRuns > Math.min(runs.length, 2);
  const room = Math.max(0, head ? forRuns - 1 : forRuns);
  if (runs.length <= room) return { shown: [...runs], head };
  const ranked = runs.map((run, index) => ({ run, index }));
  ranked.sort((a, b) => weight[a.run.phase] - weight[b.run.phase] || a.index - b.index);
  const shown = ranked.slice(0, room).sort((a, b) => a.index - b.index);
  return { shown: shown.map(({ run }) => run), head };
}

/** How many runs are in which state: those that go on, then the verdicts in the order in which they came up. */
function tally(runs: readonly LiveRun[]): string[] {
  const ended = new Map<string, number>();
  for (const { phase, state } of runs) {
    if (phase !== 'going') ended.set(state, (ended.get(state) ?? 0) + 1);
  }
  const going = runs.filter(({ phase }) => phase === 'going').length;
  const verdicts = [...ended].map(([verdict, count]) => `${count} ${verdict}`);
  const first = runs.length === 1 ? 'waiting for 1 run' : `${going} of ${runs.length} runs going`;
  return [first, ...(verdicts.length === 0 ? [] : [verdicts.join(', ')])];
}

/** What is said of all runs, the most important first; a narrow terminal shows the first parts. */
function summary(model: LiveModel, hidden: number, columns: number, symbols: boolean): string {
  const dot = symbols ? ' · ' : ', ';
  const [going = '', ...verdicts] = tally(model.runs);
  const parts = [
    going,
    ...(hidden === 0 ? [] : [`${hidden} not shown`]),
    ...verdicts,
    clockTime(model.elapsedMs),
  ];
  while (parts.length > 1 && columnsOf(parts.join(dot)) > columns) parts.pop();
  return shorten(parts.join(dot), columns);
}

/**
 * The view of a wait for a terminal of a size: never wider, and always a row less. Its first line leaves two columns for
 * the spinner. Pure: the same model, size and style give the same lines.
 */
export function liveLines(model: LiveModel, { columns, rows }: Size, style: LiveStyle): string[] {
  const height = rows - 1;
  if (height < 1 || columns < 3 || model.runs.length === 0) return [];
  const { shown, head } = chosen(model.runs, height);
  const cells = (name: ColumnName) => shown.map((run) => cellOf[name](run).text);
  // An address is of use only whole, and not beside a name that leads to it.
  const widest = Math.max(0, ...cells('url').map(columnsOf));
  const wanted = (name: ColumnName) => name !== 'url' || (style.link === null && widest > 0);
  const fitted = fitColumns(columns, cells, wanted);
  const lines = [summary(model, model.runs.length - shown.length, columns - 2, style.symbols)];
  if (head) {
    const names = fitted.map(({ name, width }) => {
      const text = shorten(heads[name], width);
      return pad(text, width, leftAligned.includes(name) ? 'left' : 'right');
    });
    lines.push(style.paint('dim', lineOf(' ', names)));
  }
  for (const run of shown) {
    const drawn = fitted.map((column) => draw(cellOf[column.name](run), column, style));
    lines.push(lineOf(markOf(run, style), drawn));
  }
  return lines;
}
