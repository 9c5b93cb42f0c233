import type { CallerInput } from '../../client/caller.ts';
import { readPages } from '../../client/pages.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { itemSchema, schemaFields } from '../../contract/shape.ts';
import { exitCodes } from '../../exit.ts';
import { membersOf } from '../../json/text.ts';
import { wantsJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import { renderTsv, tableStream } from '../../output/table.ts';
import type { Context } from '../context.ts';
import {
  type Columns,
  chooseColumns,
  emptyText,
  itemTable,
  tellColumns,
  warnOfMismatches,
} from './response-table.ts';

interface Style {
  /** Returns the output of a page's items, in pieces. */
  render(items: readonly string[]): Iterable<string | Promise<string>>;
  write(piece: string): Promise<void>;
  end?(): Promise<void>;
}

/** Characters. V8 puts strings of 128 KB or more directly into the old generation, so smaller ones cost less. */
const pieceSize = 32 * 1024;

/** Shows one item per line, unchanged, with many lines in a piece. */
const asLines = ({ lines: write }: Output): Style => ({
  write,
  *render(items) {
    let lines: string[] = [];
    let size = 0;
    for (const item of items) {
      lines.push(item);
      size += item.length;
      if (size < pieceSize) continue;
      yield [...lines, ''].join('\n');
      lines = [];
      size = 0;
    }
    yield [...lines, ''].join('\n');
  },
});

/** Shows one row per item. The first page determines the columns and their widths. */
function asRows({ output }: Context, endpoint: Endpoint, columns: readonly string[] | undefined): Style {
  const schema = itemSchema(endpoint.response);
  const shown = schema === undefined ? [] : schemaFields(schema);
  const width = output.format === 'table' ? output.columns : Number.POSITIVE_INFINITY;
  const write = output.format === 'table' ? tableStream(width) : renderTsv;
  const missing = new Set(columns);
  let chosen: Columns | undefined;
  return {
    write: output.result,
    *render(items) {
      chosen ??= chooseColumns(items, shown, columns, width);
      for (const item of missing.size === 0 ? [] : items)
        for (const [name] of membersOf(item)) missing.delete(name);
      const { head, rows } = itemTable(items, chosen.shown, output.redact);
      yield write({ head, rows: rows.map((row) => row.map((text) => text && output.redact(text))) });
    },
    async end() {
      if (chosen !== undefined) await tellColumns(output, chosen, true, [...missing]);
    },
  };
}

/** In constant memory. If the list ends with an error, the items before it stay printed. A closed pipe is not an error. */
export async function listAll(
  context: Context,
  name: string,
  endpoint: Endpoint,
  input: Pick<CallerInput, 'params' | 'query'>,
  columns: readonly string[] | undefined,
): Promise<number> {
  const { io, output } = context;
  const json = wantsJson(output);
  const style = json ? asLines(output) : asRows(context, endpoint, columns);
  const caller = await context.connect();
  let warned = false;
  let empty: string | null = emptyText(input.query?.page);
  for await (const page of readPages(caller, name, endpoint, input)) {
    empty &&= page.items.length > 0 ? null : emptyText(input.query?.page, page);
    for (const piece of page.items.length === 0 ? [] : style.render(page.itemTexts())) {
      await style.write(await piece);
      if (!io.out.open || io.out.failure !== null) return exitCodes.ok;
    }
    if (!warned) await warnOfMismatches(output, page);
    warned ||= page.mismatches.length > 0;
  }
  if (empty !== null) await output.note(empty);
  await style.end?.();
  return exitCodes.ok;
}
