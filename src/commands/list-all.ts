import type { Endpoint } from '../contract/endpoint.ts';
import { fieldsOf, itemSchema } from '../contract/shape.ts';
import { exitCodes } from '../exit.ts';
import type { CallerInput } from '../http/client.ts';
import { itemTexts, memberTexts } from '../http/json-items.ts';
import { readPages, type TextPage } from '../http/pages.ts';
import { renderTsv, type Table, tableStream } from '../output/table.ts';
import { escapeJson } from '../sanitize.ts';
import type { Context } from './context.ts';
import { itemTable, pickColumns } from './item-table.ts';

/** What shows one page, in pieces to be written one after the other. */
type RenderPage = (page: TextPage) => Iterable<string | Promise<string>>;

/** Pieces of this size are quickest to make, and are garbage that is cheap to collect. */
const pieceSize = 32 * 1024;

/** `escapeJson`, quicker for what most pages are: ASCII, in which it escapes no more than these two. */
function escapeLines(json: string): string {
  if (Buffer.byteLength(json) !== json.length) return escapeJson(json);
  return json.split('#').join('\\u0023').replaceAll('\u007f', '\\u007f');
}

/** One item a line, as it came. */
function* renderLines({ items, text }: TextPage): Iterable<string> {
  let lines: string[] = [];
  let size = 0;
  for (const item of itemTexts(text, items)) {
    lines.push(item);
    size += item.length;
    if (size < pieceSize) continue;
    yield escapeLines([...lines, ''].join('\n'));
    lines = [];
    size = 0;
  }
  yield escapeLines([...lines, ''].join('\n'));
}

/** A member's text in a cell: a string as it is, a number with the digits it came with. */
function cellOf(text: string | undefined): string {
  if (text === undefined || text === 'null') return '-';
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** One item's cells. An item that is no object fills the first one. */
function rowOf(text: string, columns: readonly string[]): string[] {
  if (!text.startsWith('{')) return [cellOf(text)];
  const members = memberTexts(text);
  return columns.map((name) => cellOf(members.get(name)));
}

/** A row an item. The first page says which columns there are, and how wide. */
function rowRenderer(context: Context, endpoint: Endpoint): RenderPage {
  const { output, io } = context;
  const schema = itemSchema(endpoint.reply);
  const shown = schema === undefined ? [] : fieldsOf(schema);
  const asTable = output.format === 'table' ? tableStream(io.out.columns ?? 80) : renderTsv;
  let known: { columns: string[]; table: Table } | undefined;
  return function* ({ items, text }) {
    known ??= { columns: pickColumns(items, shown), table: itemTable(items, shown) };
    const { columns, table } = known;
    yield asTable({ ...table, rows: itemTexts(text, items).map((item) => rowOf(item, columns)) });
  };
}

/**
 * `--all` on a paged list: one item a line as the pages come, in constant memory. Where the list breaks off, what
 * came before stays printed. A reader that has enough ends it, which is no error.
 */
export async function listAll(
  context: Context,
  name: string,
  endpoint: Endpoint,
  input: Pick<CallerInput, 'params' | 'query'>,
): Promise<number> {
  const { io, output } = context;
  const json = output.format === 'json' || output.format === 'ndjson';
  const render: RenderPage = json ? renderLines : rowRenderer(context, endpoint);
  const caller = await context.connect();
  let empty = true;
  for await (const page of readPages(caller, name, endpoint, input)) {
    if (page.items.length === 0) continue;
    empty = false;
    for (const piece of render(page)) {
      await output.result(await piece);
      if (!io.out.open) return exitCodes.ok;
    }
  }
  if (empty) await output.note('nothing found');
  return exitCodes.ok;
}
