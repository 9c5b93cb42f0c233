import type { Exchange } from '../../client/caller.ts';
import { gist, isHtml } from '../../client/http-error.ts';
import type { Page } from '../../client/list.ts';
import { looseFields, mismatchText } from '../../client/schema-mismatch.ts';
import type { Schema } from '../../contract/endpoint.ts';
import { isScalar, parseExact, stringifyExact } from '../../output/exact.ts';
import type { Output } from '../../output/output.ts';
import type { Cell, Table } from '../../output/table.ts';

/** A value in one cell: text as it is, a number with the digits it came with, anything else as JSON. */
export function cell(value: unknown): Cell {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : stringifyExact(value);
}

/**
 * Warns of a success that is an HTML page: the contract does not rule it out, and it is more likely a login page than
 * the service. True where a person needs no more of it.
 */
export async function speakOfPage(output: Output, response: Exchange): Promise<boolean> {
  const { value, status, request, isJson, redact } = response;
  if (isJson || typeof value !== 'string' || !isHtml(value)) return false;
  const page = output.excerpt(gist(value, redact), 300);
  await output.alert(
    `${output.paint('warn', 'warning:')} the response to ${output.excerpt(request, 300)} is HTTP ${status} with ${page}; check RUNGATE_API_URL: if this is not the service, nothing was done`,
  );
  return output.format === 'table' || output.format === 'plain';
}

/** A response of one object, a field a row. */
export function fieldTable(text: string): Table {
  const head = ['FIELD', 'VALUE'];
  const value = parseExact(text);
  if (isScalar(value)) return { head, rows: [['value', cell(value)]] };
  return { head, rows: Object.entries(value as object).map(([name, field]) => [name, cell(field)]) };
}

/**
 * Says of a list's page that it has no items.
 * @param asked the page of the query; it may be missing, and is checked before the request
 */
export function emptyText(asked: unknown = 1, { totalPages, totalCount }: Partial<Page> = {}): string {
  const last = totalPages ?? totalCount;
  if (Number(asked) <= 1 || last === 0 || totalCount === 0) return 'nothing found';
  if (last === undefined) return `page ${asked} is empty: it may be beyond the last page`;
  if (Number(asked) <= last) return `page ${asked} is empty`;
  const unit = totalPages === undefined ? 'item' : 'page';
  return `page ${asked} is beyond the last page: the list has ${last} ${unit}${last === 1 ? '' : 's'}`;
}

/** Warns of what is not as the contract says in a response that is printed all the same. */
export async function tellOdd(
  output: Output,
  { request, odd }: Pick<Exchange, 'request' | 'odd'>,
): Promise<void> {
  const first = odd[0];
  if (first === undefined) return;
  const text = output.excerpt(mismatchText(request, first, odd.length - 1), 500);
  await output.note(`${output.paint('warn', 'warning:')} ${text}; printed as it came`);
}

/** Warns of fields that are sent although they are not as the contract says. */
export async function tellLoose(output: Output, body: Schema, json: string): Promise<void> {
  for (const { field, expected, received } of looseFields(body, JSON.parse(json), output.redact).slice(
    0,
    5,
  )) {
    const text = `field ${field} is sent as it is: the contract has ${expected}, and this is ${received}`;
    await output.note(`${output.paint('warn', 'warning:')} ${output.excerpt(text, 500)}`);
  }
}
