import type { CallerInput } from '../../client/caller.ts';
import { readPages } from '../../client/pages.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { exitCodes } from '../../exit.ts';
import { wantsJson } from '../../output/json.ts';
import { renderTsv, tableStream, withText } from '../../output/table.ts';
import type { Context } from '../context.ts';
import { emptyText, itemColumns, warnOfMismatches } from './response-table.ts';

/** In constant memory. If the list ends with an error, the items before it stay printed. A closed pipe is not an error. */
export async function listAll(
  context: Context,
  name: string,
  endpoint: Endpoint,
  input: Pick<CallerInput, 'params' | 'query'>,
  given: readonly string[] | undefined,
): Promise<number> {
  const { io, output } = context;
  const columns = itemColumns(output, endpoint, given);
  // The first page determines the columns and their widths.
  const render = output.format === 'table' ? tableStream(output.columns) : renderTsv;
  const print = async (items: readonly string[]) => {
    if (wantsJson(output)) return output.lines([...items, ''].join('\n'));
    const { head, rows } = columns.table(items);
    const redacted = rows.map((row) => row.map((cell) => withText(cell, output.redact)));
    return output.result(await render({ head, rows: redacted }));
  };
  const caller = await context.connect();
  const requested = input.query?.page;
  let warned = false;
  let empty: string | null = emptyText(requested);
  for await (const page of readPages(caller, name, endpoint, input)) {
    if (page.items.length > 0) await print(page.itemTexts());
    if (!io.out.open || io.out.failure !== null) return exitCodes.ok;
    empty &&= page.items.length > 0 ? null : emptyText(requested, page);
    if (!warned) await warnOfMismatches(output, page);
    warned ||= page.mismatches.length > 0;
  }
  if (empty === null) await columns.tell();
  else await output.note(empty);
  return exitCodes.ok;
}
