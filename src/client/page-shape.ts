import type { Conceal } from '../conceal.ts';
import { ContractError } from '../errors.ts';
import { received } from './schema-mismatch.ts';

/** One page of a list, whatever shape it came in. What the reply does not say is not there. */
export interface Page {
  readonly items: readonly unknown[];
  /** Counted from 1. */
  readonly page?: number;
  readonly pageSize?: number;
  readonly totalPages?: number;
  readonly totalCount?: number;
  readonly hasNextPage: boolean;
}

function notA(
  name: string,
  field: string,
  expected: string,
  value: unknown,
  conceal: Conceal,
): ContractError {
  const came = received(value, conceal);
  const text = `${name}: ${field} is not as the contract says: expected ${expected}, received ${came}`;
  return new ContractError(text, { field, expected, received: came });
}

const counts = ['page', 'pageSize', 'totalPages', 'totalCount'] as const;

/** Where the reply does not say whether there is more, its numbers do; where it has none, it is the whole list. */
function more(page: Omit<Page, 'hasNextPage'>): boolean {
  if (page.page === undefined) return false;
  if (page.totalPages !== undefined) return page.page < page.totalPages;
  if (page.pageSize === undefined || page.totalCount === undefined) return false;
  return page.page * page.pageSize < page.totalCount;
}

/**
 * Reads a list's reply: the paged shape (interface, section 2.9), a bare array or `{ items: [] }`; undefined where
 * it is none of them.
 * @throws ContractError where a list's own field is of the wrong type
 */
export function readPage(value: unknown, name: string, conceal: Conceal): Page | undefined {
  if (Array.isArray(value)) return { items: value, hasNextPage: false };
  if (typeof value !== 'object' || value === null) return undefined;
  const reply = value as Readonly<Record<string, unknown>>;
  if (!Array.isArray(reply.items)) return undefined;
  const page: { -readonly [Key in keyof Page]: Page[Key] } = { items: reply.items, hasNextPage: false };
  for (const key of counts) {
    const count = reply[key] ?? undefined;
    if (count === undefined) continue;
    if (typeof count !== 'number' || !Number.isInteger(count) || count < 0) {
      throw notA(name, key, 'an integer of at least 0', count, conceal);
    }
    page[key] = count;
  }
  const next = reply.hasNextPage ?? undefined;
  if (next !== undefined && typeof next !== 'boolean')
    throw notA(name, 'hasNextPage', 'a boolean', next, conceal);
  page.hasNextPage = next ?? more(page);
  return page;
}
