import type { Exchange } from '../../client/caller.ts';
import { gist, isHtml } from '../../client/http-error.ts';
import type { Page } from '../../client/list.ts';
import { looseFields, mismatchText } from '../../client/schema-mismatch.ts';
import type { Schema } from '../../contract/endpoint.ts';
import { parseJson } from '../../json/parse.ts';
import { plainText } from '../../json/text.ts';
import type { Output } from '../../output/output.ts';
import type { Cell, Table } from '../../output/table.ts';

/** Returns a JSON value as one cell: text unchanged, a number with all its digits, anything else as JSON. */
export function cell(json: string | undefined): Cell {
  return json === undefined || json === 'null' ? null : plainText(json);
}

/** A success that is HTML is probably a login page, even if the contract allows it. True if nothing else needs printing. */
export async function warnOfHtml(output: Output, response: Exchange): Promise<boolean> {
  const { value, status, request, isJson, redact } = response;
  if (isJson || typeof value !== 'string' || !isHtml(value)) return false;
  const page = output.excerpt(redact(gist(value)), 300);
  await output.alert(
    `${output.paint('warn', 'warning:')} the response to ${output.excerpt(request, 300)} is HTTP ${status} with ${page}; check RUNGATE_API_URL: if this is not the service, nothing was done`,
  );
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

/** Warns of parts of a printed response that do not match the contract. */
export async function warnOfMismatches(
  output: Output,
  { request, mismatches }: Pick<Exchange, 'request' | 'mismatches'>,
): Promise<void> {
  const first = mismatches[0];
  if (first === undefined) return;
  const text = output.excerpt(mismatchText(request, first, mismatches.length - 1), 500);
  await output.note(`${output.paint('warn', 'warning:')} ${text}; printed unchanged`);
}

/** Warns of fields that are sent although they do not match the contract. */
export async function tellLoose(output: Output, body: Schema, json: string): Promise<void> {
  for (const { field, expected, received } of looseFields(body, JSON.parse(json)).slice(0, 5)) {
    const text = `field ${field} is sent unchanged: the contract has ${expected}, but this is ${received}`;
    await output.note(`${output.paint('warn', 'warning:')} ${output.excerpt(text, 500)}`);
  }
}
