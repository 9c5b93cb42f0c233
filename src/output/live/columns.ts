import { columnsOf } from './text.ts';

/** What a run's row can hold, beside the mark before it. */
export type ColumnName = 'run' | 'state' | 'failed' | 'blocked' | 'attempt' | 'elapsed' | 'next' | 'url';

export interface Column {
  name: ColumnName;
  width: number;
}

export const heads: Readonly<Record<ColumnName, string>> = {
  run: 'RUN',
  state: 'STATE',
  failed: 'FAILED',
  blocked: 'BLOCKED',
  attempt: 'ATTEMPT',
  elapsed: 'ELAPSED',
  next: 'NEXT POLL',
  url: 'URL',
};

/** Columns between two columns, and those of the mark with its space. */
export const gap = 2;
export const markWidth = 2;

/** What a terminal that is too narrow goes without, first to last; the run and its state stay. */
const droppable: readonly ColumnName[] = ['url', 'elapsed', 'attempt', 'next', 'blocked', 'failed'];
const order: readonly ColumnName[] = [
  'run',
  'state',
  'failed',
  'blocked',
  'attempt',
  'elapsed',
  'next',
  'url',
];

/** A run's name is shortened down to this before a column is left out for it. */
const shortName = 8;
/** A word of the service in the column of states is cut behind this. */
const longState = 20;

/** Widths that do not change from one second to the next: only the text of the service makes them larger. */
const least: Readonly<Partial<Record<ColumnName, number>>> = { state: 'in_progress'.length };

function natural(name: ColumnName, cells: readonly string[]): number {
  const widest = Math.max(columnsOf(heads[name]), least[name] ?? 0, ...cells.map(columnsOf));
  return name === 'state' ? Math.min(widest, longState) : widest;
}

/**
 * The columns that a terminal of a width has room for. Pure. `cells` gives the texts of a column; a column that is
 * not `wanted` is left out whatever the width.
 */
export function fitColumns(
  columns: number,
  cells: (name: ColumnName) => readonly string[],
  wanted: (name: ColumnName) => boolean,
): Column[] {
  const widths = new Map(order.filter(wanted).map((name) => [name, natural(name, cells(name))]));
  const names = [...widths.keys()];
  const width = (name: ColumnName) => widths.get(name) ?? 0;
  const rest = () =>
    columns - markWidth - names.reduce((sum, name) => sum + (name === 'run' ? 0 : gap + width(name)), 0);
  for (const name of droppable) {
    if (rest() >= Math.min(width('run'), shortName)) break;
    if (names.includes(name)) names.splice(names.indexOf(name), 1);
  }
  if (rest() < Math.min(width('run'), shortName)) {
    // Only the run and its state are left: they share what there is, and in the end the run has all.
    const half = Math.floor((columns - markWidth - gap) / 2);
    if (half < 4) names.splice(names.indexOf('state'), 1);
    else widths.set('state', Math.min(width('state'), half));
  }
  widths.set('run', Math.max(0, Math.min(width('run'), rest())));
  return names.map((name) => ({ name, width: width(name) }));
}
