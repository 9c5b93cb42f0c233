import type { Field } from '../../contract/shape.ts';
import { UsageError } from '../../errors.ts';
import { isScalar } from '../../output/exact.ts';
import type { Output } from '../../output/output.ts';
import { type Cell, columnsThatFit, type Table } from '../../output/table.ts';
import { echoed, isEchoed, nearest } from '../../suggest.ts';
import { cell } from './response-table.ts';

/** The fields of a list's items. */
export interface Columns {
  /** Those that have a column. */
  readonly shown: readonly string[];
  /** Those that have none, although nobody chose. */
  readonly hidden: readonly string[];
  /** All that some item has. */
  readonly fields: readonly string[];
}

/** As many columns as can be read side by side. */
const mostColumns = 6;

/** As many columns as are shown on any terminal. */
const leastColumns = 2;

/** What tells items apart, and what people look for first. */
const first = ['id', 'name', 'key', 'title', 'status', 'state'];

const isJson = ({ format }: Output) => format === 'json' || format === 'ndjson';

/**
 * Returns the names in `--columns id,name`; undefined where it was not given.
 * @throws UsageError where there is no table, or a name is empty
 */
export function givenColumns(output: Output, given: string | undefined): string[] | undefined {
  if (given === undefined) return undefined;
  if (isJson(output)) {
    throw new UsageError('--columns has no effect on JSON, which has every field', {
      hint: 'leave it out, or add --format table',
    });
  }
  const names = given.split(',').map((name) => name.trim());
  if (!names.includes('')) return names;
  throw new UsageError(`--columns: ${echoed(given)} has an empty name`, {
    hint: 'write names of fields with commas between them: --columns id,name',
  });
}

/** One item's cells. An item that is no object fills the first one. */
function itemRow(item: unknown, columns: readonly string[]): Cell[] {
  if (isScalar(item)) return [cell(item), ...columns.slice(1).map(() => null)];
  const fields = new Map<string, unknown>(Object.entries(item as object));
  return columns.map((name) => cell(fields.get(name)));
}

/** A heading as people read it: `discoveredInEnvironmentKey` → `DISCOVERED IN ENVIRONMENT KEY`. */
function heading(name: string): string {
  return name.replace(/[A-Z]/g, ' $&').toUpperCase().trim();
}

/** The names are the service's own: secrets are removed before the headings put spaces into them. */
export function itemTable(
  items: readonly unknown[],
  shown: readonly string[],
  redact: (text: string) => string = (text) => text,
): Table {
  const head = shown.length === 0 ? ['VALUE'] : shown.map((name) => heading(redact(name)));
  return { head, rows: items.map((item) => itemRow(item, shown)) };
}

/**
 * The columns that the user names. Else what identifies an item, then the fields that the contract shows, then others, but
 * no objects: as many as can be read, and on a terminal of this width as have room.
 */
export function chooseColumns(
  items: readonly unknown[],
  contract: readonly Field[],
  given: readonly string[] | undefined,
  width: number,
): Columns {
  const plain = new Set<string>();
  const present = new Set<string>();
  for (const item of items) {
    if (isScalar(item) || Array.isArray(item)) continue;
    for (const [name, value] of Object.entries(item as object)) {
      present.add(name);
      if (isScalar(value)) plain.add(name);
    }
  }
  const order = [...first, ...contract.map(({ path }) => path[0] ?? ''), ...plain];
  const columns = [...new Set(order)].filter((name) => plain.has(name));
  const fields = [...new Set([...columns, ...present])];
  if (given !== undefined) return { shown: given, hidden: [], fields };
  const most = columns.slice(0, mostColumns);
  const shown = most.slice(0, Math.max(leastColumns, columnsThatFit(itemTable(items, most), width)));
  return { shown, hidden: fields.filter((name) => !shown.includes(name)), fields };
}

/** What to say of a column that no item has a value for. */
function missingField(
  name: string,
  fields: readonly string[],
  list: (names: readonly string[]) => string,
): string {
  const whole = fields.find((field) => name.startsWith(`${field}.`));
  if (whole !== undefined)
    return `a column has a whole field: write ${list([whole])}, without what follows it`;
  const near = nearest(name, fields);
  const better = near === null ? `the fields are ${list(fields)}` : `did you mean ${list([near])}?`;
  return `no item has ${isEchoed(name) ? `the field ${echoed(name)}` : 'a field of that name'}: ${better}`;
}

/** Says which columns no item has a value for, and which fields have no column. */
export async function tellColumns(
  output: Output,
  { shown, hidden, fields }: Columns,
  hasOption: boolean,
  missing: readonly string[] = shown.filter((name) => !fields.includes(name)),
): Promise<void> {
  if (isJson(output)) return;
  const list = (names: readonly string[]) => output.excerpt(names.join(', '), 400);
  for (const name of missing) {
    const problem = missingField(name, fields, list);
    await output.alert(`${output.paint('warn', 'warning:')} --columns: ${problem}`);
  }
  if (hidden.length === 0) return;
  const named = [...shown.slice(0, leastColumns), ...hidden].filter((name) => /^[\w.-]+$/.test(name));
  const how = hasOption ? `--columns ${named.slice(0, leastColumns + 1).join(',')}` : '--json';
  const what = hidden.length === 1 ? '1 column is hidden' : `${hidden.length} columns are hidden`;
  await output.note(`${what}: ${list(hidden)}; to choose the columns: ${how}`);
}
