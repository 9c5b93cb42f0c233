import type { Exchange } from '../../client/caller.ts';
import { gist, isHtml } from '../../client/http-error.ts';
import { mismatchText } from '../../client/schema-mismatch.ts';
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
export async function speakOfPage(output: Output, reply: Exchange): Promise<boolean> {
  const { value, status, request, isJson, conceal } = reply;
  if (isJson || typeof value !== 'string' || !isHtml(value)) return false;
  const page = output.excerpt(gist(value, conceal), 300);
  await output.alert(
    `${output.paint('warn', 'warning:')} the response to ${output.excerpt(request, 300)} is HTTP ${status} with ${page}; check RUNGATE_API_URL: if this is not the service, nothing was done`,
  );
  return output.format === 'table' || output.format === 'plain';
}

/** A reply of one object, a field a row. */
export function fieldTable(text: string): Table {
  const head = ['FIELD', 'VALUE'];
  const value = parseExact(text);
  if (isScalar(value)) return { head, rows: [['value', cell(value)]] };
  return { head, rows: Object.entries(value as object).map(([name, field]) => [name, cell(field)]) };
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
