import type { Exchange } from '../../client/caller.ts';
import { gist, isHtml } from '../../client/http-error.ts';
import type { Page } from '../../client/list.ts';
import { looseFields, mismatchText } from '../../client/schema-mismatch.ts';
import type { Schema } from '../../contract/endpoint.ts';
import type { Field } from '../../contract/shape.ts';
import { UsageError } from '../../errors.ts';
import { parseJson } from '../../json/parse.ts';
import { membersOf, unquoted } from '../../json/text.ts';
import { wantsJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import { type Cell, columnsThatFit, type Table } from '../../output/table.ts';
import { echoed, isEchoed, nearest } from '../../suggest.ts';
import type { Context } from '../context.ts';
import { sayFrom } from '../source-names.ts';

export interface Columns {
  readonly shown: readonly string[];
  /** The fields without a column, if the user chose no columns. */
  readonly hidden: readonly string[];
  readonly fields: readonly string[];
}

const mostColumns = 6;

/** The columns shown on every terminal, however narrow. */
const leastColumns = 2;

/** The fields that identify an item, in order. */
const first = ['id', 'name', 'key', 'title', 'status', 'state'];

/** @throws UsageError if the output is not a table, or a name is empty */
export function givenColumns(output: Output, text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  if (wantsJson(output)) {
    throw new UsageError('--columns has no effect on JSON, which has every field', {
      hint: 'remove it, or add --format table',
    });
  }
  const names = text.split(',').map((name) => name.trim());
  if (!names.includes('')) return names;
  throw new UsageError(`--columns: ${echoed(text)} has an empty name`, {
    hint: 'separate the names of fields with commas: --columns id,name',
  });
}

/** Returns the cells of an item. An item that is not an object fills the first one. */
function itemRow(item: string, columns: readonly string[]): Cell[] {
  if (!item.startsWith('{')) return [cell(item), ...columns.slice(1).map(() => null)];
  const fields = new Map(membersOf(item));
  return columns.map((name) => cell(fields.get(name)));
}

/** Converts a field name to a heading: `discoveredInEnvironmentKey` → `DISCOVERED IN ENVIRONMENT KEY`. */
function heading(name: string): string {
  return name.replace(/[A-Z]/g, ' $&').toUpperCase().trim();
}

/** The names come from the service, so they are redacted before the headings add spaces. */
export function itemTable(
  items: readonly string[],
  shown: readonly string[],
  redact: (text: string) => string = (text) => text,
): Table {
  const head = shown.length === 0 ? ['VALUE'] : shown.map((name) => heading(redact(name)));
  return { head, rows: items.map((item) => itemRow(item, shown)) };
}

/**
 * Returns the columns that the user chose. By default, the fields that identify an item, then those of the API, then
 * others, without objects, as many as fit into this width.
 */
export function chooseColumns(
  items: readonly string[],
  documented: readonly Field[],
  given: readonly string[] | undefined,
  width: number,
): Columns {
  const plain = new Set<string>();
  const present = new Set<string>();
  for (const item of items) {
    for (const [name, value] of membersOf(item)) {
      present.add(name);
      if (!/^[[{]/.test(value)) plain.add(name);
    }
  }
  const order = [...first, ...documented.map(({ path }) => path[0] ?? ''), ...plain];
  const columns = [...new Set(order)].filter((name) => plain.has(name));
  const fields = [...new Set([...columns, ...present])];
  if (given !== undefined) return { shown: given, hidden: [], fields };
  const most = columns.slice(0, mostColumns);
  const shown = most.slice(0, Math.max(leastColumns, columnsThatFit(itemTable(items, most), width)));
  return { shown, hidden: fields.filter((name) => !shown.includes(name)), fields };
}

function missingField(
  name: string,
  fields: readonly string[],
  list: (names: readonly string[]) => string,
): string {
  const whole = fields.find((field) => name.startsWith(`${field}.`));
  if (whole !== undefined) return `a column shows a whole field: write only ${list([whole])}`;
  const near = nearest(name, fields);
  const better = near === null ? `the fields are ${list(fields)}` : `did you mean ${list([near])}?`;
  return `no item has ${isEchoed(name) ? `the field ${echoed(name)}` : 'a field of that name'}: ${better}`;
}

/** Warns of columns without any value, and lists the hidden fields. */
export async function tellColumns(
  output: Output,
  { shown, hidden, fields }: Columns,
  hasOption: boolean,
  missing: readonly string[] = shown.filter((name) => !fields.includes(name)),
): Promise<void> {
  if (wantsJson(output)) return;
  const list = (names: readonly string[]) => output.excerpt(names.join(', '), 400);
  for (const name of missing) {
    const problem = missingField(name, fields, list);
    await output.alert(`${output.paint('warn', 'warning:')} --columns: ${problem}`);
  }
  if (hidden.length === 0) return;
  const named = [...shown.slice(0, leastColumns), ...hidden].filter((name) => /^[\w.-]+$/.test(name));
  const how = hasOption ? `--columns ${named.slice(0, leastColumns + 1).join(',')}` : '--json';
  const what = hidden.length === 1 ? '1 column is hidden' : `${hidden.length} columns are hidden`;
  await output.note(`${what}: ${list(hidden)}; to show them, use ${how}`);
}

/** Returns a JSON value as one cell: text unchanged, a number with all its digits, anything else as JSON. */
function cell(json: string | undefined): Cell {
  return json === undefined || json === 'null' ? null : unquoted(json);
}

/** A success that is HTML is probably a login page, even if the API allows it. True if nothing else needs printing. */
export async function warnOfHtml(
  { output, settings }: Pick<Context, 'output' | 'settings'>,
  response: Exchange,
): Promise<boolean> {
  const { value, status, request, isJson, redact } = response;
  if (isJson || typeof value !== 'string' || !isHtml(value)) return false;
  const page = output.excerpt(redact(gist(value)), 300);
  const where = output.excerpt(sayFrom(settings)('apiUrl'), 300);
  const what = `the response to ${output.excerpt(request, 300)} is HTTP ${status} with ${page}`;
  await output.alert(`${output.paint('warn', 'warning:')} ${what}`);
  const effect = request.startsWith('GET ') ? '' : '; then nothing was done';
  await output.alert(`  → check ${where}: it may not be the URL of the service${effect}`);
  return output.format === 'table' || output.format === 'plain';
}

export function fieldTable(text: string): Table {
  const head = ['FIELD', 'VALUE'];
  const root = parseJson(text);
  if (root.kind === 'scalar') return { head, rows: [['value', cell(root.text)]] };
  const elements = root.elements.map((value, index) => ({ name: String(index), value }));
  return { head, rows: [...root.members, ...elements].map(({ name, value }) => [name, cell(value.text)]) };
}

/** @param requested the page of the query, if any; the request has checked it */
export function emptyText(requested: unknown = 1, { totalPages, totalCount }: Partial<Page> = {}): string {
  const last = totalPages ?? totalCount;
  if (Number(requested) <= 1 || last === 0 || totalCount === 0) return 'nothing found';
  if (last === undefined) return `page ${requested} is empty: it may be beyond the last page`;
  if (Number(requested) <= last) return `page ${requested} is empty`;
  const unit = totalPages === undefined ? 'item' : 'page';
  return `page ${requested} is beyond the last page: the list has ${last} ${unit}${last === 1 ? '' : 's'}`;
}

/** Warns of parts of a printed response that do not match the API. */
export async function warnOfMismatches(
  output: Output,
  { request, mismatches }: Pick<Exchange, 'request' | 'mismatches'>,
): Promise<void> {
  const first = mismatches[0];
  if (first === undefined) return;
  const text = output.excerpt(mismatchText(request, first, mismatches.length - 1), 500);
  await output.note(`${output.paint('warn', 'warning:')} ${text}; printed unchanged`);
}

/** Warns of fields that are sent although they do not match the API. */
export async function tellLoose(output: Output, body: Schema, json: string): Promise<void> {
  for (const { field, expected, received } of looseFields(body, JSON.parse(json)).slice(0, 5)) {
    const text = `field ${field} is sent unchanged: the API expects ${expected}, but this is ${received}`;
    await output.note(`${output.paint('warn', 'warning:')} ${output.excerpt(text, 500)}`);
  }
}
