import type { Exchange } from '../../client/caller.ts';
import { gist, isHtml } from '../../client/http-error.ts';
import { type Mismatch, mismatchText } from '../../client/schema-mismatch.ts';
import type { Field } from '../../contract/shape.ts';
import { isScalar, parseExact, stringifyExact } from '../../output/exact.ts';
import type { Output } from '../../output/output.ts';
import type { Table } from '../../output/table.ts';

/** A value in one cell: text as it is, a number with the digits it came with, anything else as JSON. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return typeof value === 'string' ? value : stringifyExact(value);
}

/**
 * Warns of a success that is an HTML page: the contract does not rule it out, and it is more likely a login page than
 * the service. True where a person needs no more of it.
 */
export async function speakOfPage(output: Output, name: string, reply: Exchange): Promise<boolean> {
  const { value, status, isJson, conceal } = reply;
  if (isJson || typeof value !== 'string' || !isHtml(value)) return false;
  const page = output.excerpt(gist(value, conceal), 300);
  await output.alert(
    `${output.paint('warn', 'warning:')} ${name}: HTTP ${status} with ${page}; check RUNGATE_API_URL: if this is not the service, nothing was done`,
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

/** As many columns as can be read side by side. */
const mostColumns = 6;

/** What tells items apart, and what people look for first. */
const first = ['id', 'name', 'key', 'title', 'status', 'state'];

/** The columns of a list: what identifies an item, then the fields the contract shows, then what else is there. */
export function pickColumns(items: readonly unknown[], shown: readonly Field[]): string[] {
  const present = new Set<string>();
  for (const item of items.slice(0, 100)) {
    if (typeof item !== 'object' || item === null) continue;
    for (const [name, value] of Object.entries(item)) if (isScalar(value)) present.add(name);
  }
  const contract = shown.map((field) => field.path[0] ?? '');
  const order = [...first, ...contract, ...present].filter((name) => present.has(name));
  return [...new Set(order)].slice(0, mostColumns);
}

/** One item's cells. An item that is no object fills the first cell. */
export function itemRow(item: unknown, columns: readonly string[]): string[] {
  if (isScalar(item)) return [cell(item)];
  const fields = item as Record<string, unknown>;
  return columns.map((name) => cell(fields[name]));
}

/** Warns of what is not as the contract says in a response that is printed all the same. */
export async function tellOdd(output: Output, name: string, odd: readonly Mismatch[]): Promise<void> {
  const first = odd[0];
  if (first === undefined) return;
  const text = output.excerpt(mismatchText(first, odd.length - 1), 500);
  await output.note(`${output.paint('warn', 'warning:')} ${name}: ${text}; printed as it came`);
}

/** A heading as people read it: `discoveredInEnvironmentKey` → `DISCOVERED IN ENVIRONMENT KEY`. */
function heading(name: string): string {
  return name.replace(/[A-Z]/g, ' $&').toUpperCase().trim();
}

export function itemTable(items: readonly unknown[], shown: readonly Field[]): Table {
  const columns = pickColumns(items, shown);
  const head = columns.length === 0 ? ['VALUE'] : columns.map(heading);
  return { head, rows: items.map((item) => itemRow(item, columns)), optional: Math.max(0, head.length - 2) };
}
