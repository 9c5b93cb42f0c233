import type { Redact } from '../redact.ts';
import { mismatchError, received } from './schema-mismatch.ts';

/** A list, or one page of it, whatever shape it came in. What the response does not say is not there. */
export interface Page {
  readonly items: readonly unknown[];
  /** The name of the field with the items; undefined for a bare array. */
  readonly field?: string;
  /** Counted from 1. */
  readonly page?: number;
  readonly pageSize?: number;
  readonly totalPages?: number;
  readonly totalCount?: number;
  readonly hasNextPage: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const counts = ['page', 'pageSize', 'totalPages', 'totalCount'] as const;

/** If the response does not say whether there is more, its numbers do; without any, it is the whole list. */
function more(page: Omit<Page, 'hasNextPage'>): boolean {
  if (page.page === undefined) return false;
  if (page.totalPages !== undefined) return page.page < page.totalPages;
  if (page.pageSize === undefined || page.totalCount === undefined) return false;
  return page.page * page.pageSize < page.totalCount;
}

/** The name of the field with the list: `items`, or that of the only array; undefined if there is none, or several. */
function fieldOf(response: Fields): string | undefined {
  if (Array.isArray(response.items)) return 'items';
  const arrays = Object.keys(response).filter((name) => Array.isArray(response[name]));
  if (arrays.length === 1) return arrays[0];
  // Some languages write an empty list as null.
  return arrays.length === 0 && response.items === null ? 'items' : undefined;
}

/**
 * Reads a list's response: the paged shape (interface, section 2.9), a bare array, or an object with one array of any
 * name. A list that is null or not there at all (204) is empty. Undefined if it is none of them.
 * @param request the request as its user knows it: `GET /api/environments`
 * @throws ContractError where a list's own field is of the wrong type
 */
export function readPage(value: unknown, request: string, redact: Redact, hint?: string): Page | undefined {
  if (Array.isArray(value)) return { items: value, hasNextPage: false };
  if (value === undefined || value === null) return { items: [], hasNextPage: false };
  if (typeof value !== 'object') return undefined;
  const response = value as Fields;
  const field = fieldOf(response);
  if (field === undefined) return undefined;
  const check = (key: string, fits: boolean, expected: string) => {
    if (!fits)
      throw mismatchError(request, {
        field: key,
        expected,
        received: received(response[key], redact),
        hint,
      });
  };
  const items = (response[field] ?? []) as readonly unknown[];
  const page: { -readonly [Key in keyof Page]: Page[Key] } = { items, field, hasNextPage: false };
  for (const key of counts) {
    const count = key === field ? undefined : (response[key] ?? undefined);
    if (count === undefined) continue;
    check(key, Number.isInteger(count) && Number(count) >= 0, 'an integer of at least 0');
    page[key] = Number(count);
  }
  const next = response.hasNextPage ?? more(page);
  check('hasNextPage', typeof next === 'boolean', 'a boolean');
  page.hasNextPage = next === true;
  return page;
}

/**
 * The list as the library returns it: `items`, and whatever else came with them under its own name.
 * @param page what `readPage` read of the value; without one, there are no items
 */
export function asList(value: unknown, page: Page | undefined): object {
  const isObject = typeof value === 'object' && !Array.isArray(value);
  const list: Record<string, unknown> = isObject ? { ...value } : {};
  if (page?.field !== undefined) delete list[page.field];
  return { ...list, items: page?.items ?? [] };
}
