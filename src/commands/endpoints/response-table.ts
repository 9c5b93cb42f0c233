import type { Exchange } from '../../client/caller.ts';
import { gist, isHtml } from '../../client/http-error.ts';
import type { Page } from '../../client/list.ts';
import { looseFields, mismatchText } from '../../client/schema-mismatch.ts';
import type { Endpoint, Schema } from '../../contract/endpoint.ts';
import { isList, itemSchema, schemaFields } from '../../contract/shape.ts';
import { UsageError } from '../../errors.ts';
import { parseJson } from '../../json/parse.ts';
import { membersOf, unquoted } from '../../json/text.ts';
import { wantsJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import { type Cell, columnsThatFit, type Table } from '../../output/table.ts';
import type { Redact } from '../../redact.ts';
import { echoed, isEchoed, nearest } from '../../suggest.ts';
import type { Context } from '../context.ts';

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

/** The ends of the names of fields whose values tell things apart. */
const identifying = /(?:id|key|slug|name|customer|ref|sha|url|token|tag|state|status|type)s?$/i;

/** Returns the JSON value of a field as one cell: text unchanged, a number with all its digits, anything else as JSON. */
function cell(json: string | undefined, field = 'id'): Cell {
  if (json === undefined || json === 'null') return null;
  const text = unquoted(json);
  return json.startsWith('"') && !identifying.test(field) ? { prose: text } : text;
}

/** Returns the cells of an item. An item that is not an object fills the first one. */
function itemRow(item: string, columns: readonly string[]): Cell[] {
  if (!item.startsWith('{')) return [cell(item), ...columns.slice(1).map(() => null)];
  const fields = new Map(membersOf(item));
  return columns.map((name) => cell(fields.get(name), name));
}

/** Converts a field name to a heading: `discoveredInEnvironmentKey` → `DISCOVERED IN ENVIRONMENT KEY`. */
function heading(name: string): string {
  return name.replace(/[A-Z]/g, ' $&').toUpperCase().trim();
}

/** The names come from the service, so they are redacted before the headings add spaces. */
function itemTable(items: readonly string[], shown: readonly string[], redact: Redact): Table {
  const head = shown.length === 0 ? ['VALUE'] : shown.map((name) => heading(redact(name)));
  return { head, rows: items.map((item) => itemRow(item, shown)) };
}

/**
 * Returns the fields of items, and before them those that a table can show: the fields that identify an item, then those of
 * the API, then others, without objects.
 */
function fieldsOf(items: readonly string[], documented: readonly string[]) {
  const members = items.flatMap(membersOf);
  const plain = new Set(members.filter(([, value]) => !/^[[{]/.test(value)).map(([name]) => name));
  const columns = [...new Set([...first, ...documented, ...plain])].filter((name) => plain.has(name));
  return { columns, fields: [...new Set([...columns, ...members.map(([name]) => name)])] };
}

/**
 * Chooses the columns when it gets the first items: those of `--columns`, or else as many as fit on the terminal.
 * @returns `table` shows items, and `tell` warns of columns without any value and lists the hidden fields
 */
export function itemColumns(output: Output, endpoint: Endpoint, given: readonly string[] | undefined) {
  const schema = itemSchema(endpoint.response);
  const documented = (schema === undefined ? [] : schemaFields(schema)).map(({ path }) => String(path[0]));
  const width = output.format === 'table' ? output.columns : Number.POSITIVE_INFINITY;
  const missing = new Set(given);
  let chosen: { shown: readonly string[]; fields: readonly string[] } | undefined;

  function choose(items: readonly string[]) {
    const { columns, fields } = fieldsOf(items, documented);
    const most = columns.slice(0, mostColumns);
    const fit = columnsThatFit(itemTable(items, most, output.redact), width);
    return { shown: given ?? most.slice(0, Math.max(leastColumns, fit)), fields };
  }

  return {
    table(items: readonly string[]): Table {
      chosen ??= choose(items);
      if (missing.size > 0) for (const [name] of items.flatMap(membersOf)) missing.delete(name);
      return itemTable(items, chosen.shown, output.redact);
    },
    async tell(): Promise<void> {
      if (wantsJson(output) || chosen === undefined) return;
      const { shown, fields } = chosen;
      const list = (names: readonly string[]) => output.excerpt(names.join(', '), 400);
      for (const name of missing) {
        await output.warn(`--columns: ${missingField(name, fields, list)}`);
      }
      const hidden = given === undefined ? fields.filter((name) => !shown.includes(name)) : [];
      if (hidden.length === 0) return;
      const named = [...shown.slice(0, leastColumns), ...hidden].filter((name) => /^[\w.-]+$/.test(name));
      const option = `--columns ${named.slice(0, leastColumns + 1).join(',')}`;
      const what = hidden.length === 1 ? '1 column is hidden' : `${hidden.length} columns are hidden`;
      const how = isList(endpoint) ? option : '--json';
      await output.note(`${what}: ${list(hidden)}; to show them, use ${how}`);
    },
  };
}

function missingField(
  name: string,
  fields: readonly string[],
  list: (names: readonly string[]) => string,
): string {
  const near = nearest(name, fields);
  const better = near === null ? `the fields are ${list(fields)}` : `did you mean ${list([near])}?`;
  return `no item has ${isEchoed(name) ? `the field ${echoed(name)}` : 'a field of that name'}: ${better}`;
}

/** A success that is HTML is probably a login page, even if the API allows it. True if nothing else needs printing. */
export async function warnOfHtml(
  { output, nameOf }: Pick<Context, 'output' | 'nameOf'>,
  response: Exchange,
): Promise<boolean> {
  const { value, status, request, isJson, redact } = response;
  if (isJson || typeof value !== 'string' || !isHtml(value)) return false;
  const page = output.excerpt(redact(gist(value)), 300);
  const where = output.excerpt(nameOf('apiUrl'), 300);
  const what = `the response to ${output.excerpt(request, 300)} is HTTP ${status} with ${page}`;
  const effect = request.startsWith('GET ') ? '' : '; in that case, nothing was done';
  await output.warn(what, `check ${where}: it may not be the URL of the service${effect}`);
  return output.format === 'table' || output.format === 'plain';
}

export function fieldTable(text: string): Table {
  const head = ['FIELD', 'VALUE'];
  const root = parseJson(text);
  if (root.kind === 'scalar') return { head, rows: [['value', cell(root.text)]] };
  const elements = root.elements.map((value, index) => ({ name: String(index), value }));
  return {
    head,
    rows: [...root.members, ...elements].map(({ name, value }) => [name, cell(value.text, name)]),
  };
}

/** @param requested the page of the query, if any; the request has checked it */
export function emptyText(requested: unknown = 1, { totalPages, totalCount }: Partial<Page> = {}): string {
  if (Number(requested) <= 1 || totalPages === 0 || totalCount === 0) return 'nothing found';
  const last = totalPages === undefined ? '' : `; the last page is ${totalPages}`;
  return `page ${requested} is empty${last}`;
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
