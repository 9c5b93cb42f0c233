import { gap } from '../table.ts';
import { columnsOf, type shorten, shortenMiddle, type Tone } from '../text.ts';
import { type LiveRun, marks } from './model.ts';

/** A text and its colour, which is applied last because it has no width. */
interface LiveCell {
  text: string;
  tone?: Tone | undefined;
  url?: string | null;
}

interface Column {
  head: string;
  cell(run: LiveRun): LiveCell;
  /** Aligns the texts left; without it they are aligned right. */
  left?: boolean;
  /** Shortens a text; by default at its end. */
  cut?: typeof shorten;
  /** Limits of the width, which keep it stable from one second to the next. */
  least?: number;
  most?: number;
  /** The order in which columns are dropped on a narrow terminal. */
  dropped?: number;
  /** Dropped before the name of a run is shortened. */
  spare?: boolean;
}

/** A column with its width on this terminal. */
export interface FittedColumn extends Column {
  width: number;
}

/** Formats a time like a clock: `0:07`, `12:05`, `1:02:05`. Its width stays the same from second to second. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

function countCell(count: number | null, tone: Tone): LiveCell {
  if (count === null) return { text: '-', tone: 'dim' };
  return { text: String(count), tone: count > 0 ? tone : undefined };
}

/** Rounded up, so that it shows `now` at 0 and not a second earlier. */
function nextPoll(ms: number | null): string {
  if (ms === null) return '';
  if (ms === Number.POSITIVE_INFINITY) return 'by hub';
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 0) return 'now';
  return seconds < 60 ? `${seconds} s` : clockTime(seconds * 1000);
}

const withRetry = (text: string, { retry }: LiveRun) => (retry === 0 ? text : `${text}, retry ${retry}`);

const name: Column = {
  head: 'RUN',
  cell: (run) => ({ text: run.gate === undefined ? withRetry(run.name, run) : run.name, url: run.url }),
  left: true,
  cut: shortenMiddle,
};
const gate: Column = {
  head: 'GATE',
  cell: (run) => ({ text: withRetry(run.gate ?? '', run), url: run.url }),
  left: true,
  cut: shortenMiddle,
};
const leastState = 'in_progress'.length;
const state: Column = {
  head: 'STATE',
  cell: (run) => ({ text: run.state, tone: run.phase === 'going' ? undefined : marks[run.phase].tone }),
  left: true,
  least: leastState,
  most: 20,
};

const details: readonly Column[] = [
  { head: 'FAILED', cell: (run) => countCell(run.failed, 'bad'), dropped: 7 },
  { head: 'BLOCKED', cell: (run) => countCell(run.blocked, 'warn'), dropped: 6 },
  { head: 'READS', cell: (run) => ({ text: run.reads }), dropped: 4 },
  {
    head: 'ELAPSED',
    cell: ({ elapsedMs }) => ({ text: elapsedMs === null ? '' : clockTime(elapsedMs) }),
    dropped: 3,
  },
  { head: 'NEXT POLL', cell: (run) => ({ text: nextPoll(run.nextMs) }), dropped: 5 },
];
const url: Column = {
  head: 'URL',
  cell: (run) => ({ text: run.url ?? '', tone: 'dim' }),
  left: true,
  dropped: 1,
  spare: true,
};
const id: Column = {
  head: 'ID',
  cell: (run) => ({ text: run.id ?? '' }),
  left: true,
  dropped: 2,
  spare: true,
};

/** The width of the mark and the space after it. */
const markWidth = 2;
/** A name is shortened to this width before a column is dropped for it. Ids differ at the end, names of gates anywhere. */
const shortest = { name: 8, gate: 16 };

function sized(column: Column, runs: readonly LiveRun[]): FittedColumn {
  const { head, cell, least = 0, most = Number.POSITIVE_INFINITY } = column;
  const widths = [head, ...runs.map((run) => cell(run).text)].map(columnsOf);
  return { ...column, width: Math.min(Math.max(least, ...widths), most) };
}

/** Returns the columns that fit on a terminal. The URL column is omitted if the names are links. */
export function fitColumns(runs: readonly LiveRun[], columns: number, links: boolean): FittedColumn[] {
  const withUrl = !links && runs.some((run) => run.url);
  const withId = runs.some((run) => run.id !== null);
  const withGate = runs.some((run) => run.gate !== undefined);
  const [fittedName, fittedState] = [sized(withGate ? gate : name, runs), sized(state, runs)];
  const spare = [...(withGate ? [{ ...name, dropped: 2, spare: true }] : []), ...(withId ? [id] : [])];
  const ids = spare.map((column) => sized(column, runs));
  const others = (withUrl ? [...details, url] : details).map((column) => sized(column, runs));
  const fitted = [fittedName, ...ids, fittedState, ...others];
  const leastName = Math.min(fittedName.width, withGate ? shortest.gate : shortest.name);
  const roomForName = () =>
    fitted.slice(1).reduce((room, { width }) => room - gap - width, columns - markWidth);
  for (const other of [...ids, ...others].toSorted((a, b) => (a.dropped ?? 0) - (b.dropped ?? 0))) {
    const needed = other.spare === true ? fittedName.width : leastName;
    const missing = needed - roomForName();
    if (missing <= 0) continue;
    const longState = other.spare === true ? 0 : fittedState.width - leastState;
    fittedState.width -= Math.min(Math.max(0, longState), missing);
    if (roomForName() < needed) fitted.splice(fitted.indexOf(other), 1);
  }
  if (roomForName() < leastName) {
    // Only the name and the state are left. They share the space, until there is room for the name only.
    const half = Math.floor((columns - markWidth - gap) / 2);
    if (half < 4) fitted.pop();
    else fittedState.width = Math.min(fittedState.width, half);
  }
  fittedName.width = Math.max(0, Math.min(fittedName.width, roomForName()));
  return fitted;
}
