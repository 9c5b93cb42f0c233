import { defaultPageSize } from '../contract/fields.ts';
import { type Mismatch, received } from '../contract/issues.ts';

/** A list, or one page of it, read from a response of any shape. Facts that the response lacks are missing. */
export interface Page {
  readonly items: readonly unknown[];
  /** The name of the field with the items; undefined for a bare array. */
  readonly field?: string;
  /** Counted from 1. */
  readonly page?: number;
  readonly pageSize?: number;
  readonly totalPages?: number;
  readonly totalCount?: number;
  readonly hasNextPage?: boolean;
}

/** A page with the fields that do not match the API. These count as missing. */
export interface ReadPage extends Page {
  readonly invalidFields: readonly Mismatch[];
}

export interface PageQuery {
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const counts = ['page', 'pageSize', 'totalPages', 'totalCount'];

/** Returns the name of the field with the list: `items`, or the only array; undefined without an array, or with several. */
function fieldOf(response: Fields): string | undefined {
  if (Array.isArray(response.items)) return 'items';
  const arrays = Object.keys(response).filter((name) => Array.isArray(response[name]));
  if (arrays.length === 1) return arrays[0];
  // Some languages write an empty list as null.
  return arrays.length === 0 && response.items === null ? 'items' : undefined;
}

/**
 * Reads the response of a list: the paged shape, a bare array, or an object with one array of any
 * name. A null or empty response (204) is an empty list. Returns undefined for any other response.
 */
export function readPage(value: unknown): ReadPage | undefined {
  if (Array.isArray(value)) return { items: value, invalidFields: [] };
  if (value === undefined || value === null) return { items: [], invalidFields: [] };
  if (!isFields(value)) return undefined;
  const field = fieldOf(value);
  if (field === undefined) return undefined;
  const invalidFields: Mismatch[] = [];
  const shown: Record<string, unknown> = {};
  for (const name of [...counts, 'hasNextPage'].filter((other) => other !== field)) {
    const fact = value[name] ?? undefined;
    const isCount = counts.includes(name);
    const expected = isCount ? 'a whole number, 0 or more' : 'a boolean';
    const fits = isCount ? Number.isSafeInteger(fact) && Number(fact) >= 0 : typeof fact === 'boolean';
    if (fits) shown[name] = fact;
    else if (fact !== undefined)
      invalidFields.push({ field: name, path: [name], expected, received: received(fact) });
  }
  return { items: (value[field] ?? []) as readonly unknown[], field, ...shown, invalidFields };
}

/** Returns whether there is another page, or undefined if the response does not say. A page without a number is the requested one. */
export function hasNext(page: Page, requested: PageQuery): boolean | undefined {
  const { items, totalPages, totalCount } = page;
  if (page.hasNextPage !== undefined) return page.hasNextPage;
  if (items.length === 0) return false;
  const number = page.page || requested.page || 1;
  if (totalPages !== undefined) return number < totalPages;
  if (totalCount === undefined) return undefined;
  const pageSize = page.pageSize || requested.pageSize || defaultPageSize;
  return (number - 1) * pageSize + items.length < totalCount;
}

/**
 * Returns a list as the library does: `items`, and every other field of the response under its own name. A single value is
 * its only item. If `items` is another field of the response, `response` has the whole response.
 * @param page the result of `readPage` for the value
 */
export function asList(value: unknown, page: Page | undefined): object {
  if (!isFields(value)) return { items: page?.items ?? [value] };
  const { [page?.field ?? 'items']: _, ...others } = value;
  const hidden = page?.field !== 'items' && value.items !== undefined;
  return { ...others, ...(hidden && { response: value }), items: page?.items ?? [] };
}
