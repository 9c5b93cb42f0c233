import type { Endpoint } from '../contract/endpoint.ts';
import { fieldsOf, itemSchema } from '../contract/shape.ts';
import { exitCodes } from '../exit.ts';
import type { CallerInput } from '../http/client.ts';
import { itemTexts, memberTexts } from '../http/json-items.ts';
import { readPages, type TextPage } from '../http/pages.ts';
import { escapeJson } from '../output/sanitize.ts';
import { renderTsv, type Table, tableStream } from '../output/table.ts';
import type { Context } from './context.ts';
import { itemTable, pickColumns } from './item-table.ts';

/** The lines that show one page. */
type RenderPage = (page: TextPage) => string | Promise<string>;

/** One item a line, as it came. A whole page is made harmless at once: it is all JSON. */
function renderLines(page: TextPage): string {
  return escapeJson([...itemTexts(page.text), ''].join('\n'));
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
  let known: { columns: string[]; head: Table['head'] } | undefined;
  return ({ items, text }) => {
    known ??= { columns: pickColumns(items, shown), head: itemTable(items, shown).head };
    const { columns, head } = known;
    return asTable({ head, rows: itemTexts(text).map((item) => rowOf(item, columns)) });
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
    await output.result(await render(page));
    if (!io.out.open) return exitCodes.ok;
  }
  if (empty) await output.note('nothing found');
  return exitCodes.ok;
}
