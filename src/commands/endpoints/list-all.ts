import type { CallerInput } from '../../client/caller.ts';
import { itemTexts, membersOf } from '../../client/json-text.ts';
import { type Convert, type ConvertedPage, readPages } from '../../client/pages.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { fieldsOf, itemSchema } from '../../contract/shape.ts';
import { exitCodes } from '../../exit.ts';
import type { Output } from '../../output/output.ts';
import { type Cell, renderTsv, type Table, tableStream } from '../../output/table.ts';
import type { Context } from '../context.ts';
import { type Columns, chooseColumns, itemTable, tellColumns } from './list-columns.ts';
import { emptyText, warnOfMismatches } from './response-table.ts';

/** Shows pages in one format. */
interface Style {
  /** Converts the text of a page until its turn comes. */
  convert: Convert<string[]>;
  /** Returns the output of a page, in pieces. */
  render(page: ConvertedPage<string[]>): Iterable<string | Promise<string>>;
  write(piece: string): Promise<void>;
  /** Prints the notes after the last page. */
  end?(): Promise<void>;
}

/** Characters. V8 puts strings of 128 KB or more directly into the old generation, so smaller ones cost less. */
const pieceSize = 32 * 1024;

/** Shows one item per line, unchanged, with many lines in a piece. */
const asLines = ({ lines: write }: Output): Style => ({
  write,
  convert(text, list) {
    const pieces: string[] = [];
    let lines: string[] = [];
    let size = 0;
    for (const item of itemTexts(text, list)) {
      lines.push(item);
      size += item.length;
      if (size < pieceSize) continue;
      pieces.push([...lines, ''].join('\n'));
      lines = [];
      size = 0;
    }
    return [...pieces, [...lines, ''].join('\n')];
  },
  render: ({ converted }) => converted,
});

/** Returns the text of a cell: a string unchanged, a number with all its digits. */
function cellOf(text: string | undefined): Cell {
  if (text === undefined || text === 'null') return null;
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** Shows one row per item. The first page determines the columns and their widths. */
function asRows({ output, io }: Context, endpoint: Endpoint, given: readonly string[] | undefined): Style {
  const schema = itemSchema(endpoint.response);
  const shown = schema === undefined ? [] : fieldsOf(schema);
  const columns = output.format === 'table' ? (io.out.columns ?? 80) : Number.POSITIVE_INFINITY;
  const write = output.format === 'table' ? tableStream(columns) : renderTsv;
  const missing = new Set(given);
  let known: { chosen: Columns; head: Table['head'] } | undefined;
  /** Returns the cells of an item. An item that is not an object fills the first one. */
  const rowOf = (text: string, names: readonly string[]): Cell[] => {
    if (!text.startsWith('{')) return [cellOf(text), ...names.slice(1).map(() => null)];
    const members = new Map(membersOf(text));
    for (const name of missing) if (members.has(name)) missing.delete(name);
    return names.map((name) => cellOf(members.get(name)));
  };
  return {
    write: output.result,
    convert: itemTexts,
    *render({ items, converted }) {
      if (known === undefined) {
        const chosen = chooseColumns(items, shown, given, columns);
        known = { chosen, head: itemTable([], chosen.shown, output.redact).head };
      }
      const { chosen, head } = known;
      const rows = converted.map((item) =>
        rowOf(item, chosen.shown).map((text) => text && output.redact(text)),
      );
      yield write({ head, rows });
    },
    async end() {
      if (known !== undefined) await tellColumns(output, known.chosen, true, [...missing]);
    },
  };
}

/**
 * `--all` on a paged list: prints one item per line, page by page, in constant memory. If the list ends with an error, the
 * items before it stay printed. A closed pipe ends the output without an error.
 */
export async function listAll(
  context: Context,
  name: string,
  endpoint: Endpoint,
  input: Pick<CallerInput, 'params' | 'query'>,
  columns: readonly string[] | undefined,
): Promise<number> {
  const { io, output } = context;
  const json = output.format === 'json' || output.format === 'ndjson';
  const style = json ? asLines(output) : asRows(context, endpoint, columns);
  const caller = await context.connect();
  let warned = false;
  let empty: string | null = emptyText(input.query?.page);
  for await (const page of readPages(caller, name, endpoint, input, style.convert)) {
    empty &&= page.items.length > 0 ? null : emptyText(input.query?.page, page);
    for (const piece of page.items.length === 0 ? [] : style.render(page)) {
      await style.write(await piece);
      if (!io.out.open) return exitCodes.ok;
    }
    if (!warned) await warnOfMismatches(output, page);
    warned ||= page.mismatches.length > 0;
  }
  if (empty !== null) await output.note(empty);
  await style.end?.();
  return exitCodes.ok;
}
