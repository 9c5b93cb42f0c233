import { defaultPageSize } from '../contract/fields.ts';
import type { Redact } from '../redact.ts';
import { type Mismatch, received } from './schema-mismatch.ts';

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
  readonly hasNextPage?: boolean;
}

/** A page as it was read, with its fields that are not as the contract says: they count as missing. */
export interface ReadPage extends Page {
  readonly oddFields: readonly Mismatch[];
}

/** The page and the page size that a request names. */
export interface PageQuery {
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const isBoolean = (value: unknown) => typeof value === 'boolean';

/** The fields of a page (interface, section 2.9), and what they must be. */
const pageFields = {
  page: [isCount, 'an integer of at least 0'],
  pageSize: [isCount, 'an integer of at least 0'],
  totalPages: [isCount, 'an integer of at least 0'],
  totalCount: [isCount, 'an integer of at least 0'],
  hasNextPage: [isBoolean, 'a boolean'],
} as const;

/** Where, and under which names, other services say that a list goes on. */
const otherPlaces = ['meta', 'pagination', 'paging', 'page', 'links'];
const otherCounts = ['totalCount', 'total', 'count', 'totalItems', 'totalElements'];
const otherNext = ['hasNextPage', 'hasNext', 'hasMore'];

/** A number, also if it is text; NaN for anything else. */
const numberOf = (value: unknown) =>
  typeof value === 'string' && /^\d{1,15}$/.test(value)
    ? Number(value)
    : isCount(value)
      ? Number(value)
      : NaN;

/**
 * Reads what the contract does not show. It is believed only where it says that there is more: `count` may be that of
 * the page.
 */
function readOther(response: Fields, { items }: Page): Omit<Page, 'items'> {
  const parts = [response, ...otherPlaces.map((name) => response[name]).filter(isFields)];
  const numbers = (names: readonly string[]) =>
    parts.flatMap((part) => names.map((name) => numberOf(part[name]))).filter((number) => number >= 0);
  const totalCount = numbers(otherCounts).find((count) => count > items.length || items.length === 0);
  const totalPages = numbers(['totalPages']).find((pages) => pages > 1);
  const hasNextPage = parts.some(
    (part) =>
      otherNext.some((name) => String(part[name]) === 'true') ||
      (typeof part.next === 'string' && part.next !== ''),
  );
  return {
    ...(totalCount !== undefined && { totalCount }),
    ...(totalPages !== undefined && { totalPages }),
    ...(hasNextPage && { hasNextPage }),
  };
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
 */
export function readPage(value: unknown, redact: Redact): ReadPage | undefined {
  if (Array.isArray(value)) return { items: value, oddFields: [] };
  if (value === undefined || value === null) return { items: [], oddFields: [] };
  if (!isFields(value)) return undefined;
  const field = fieldOf(value);
  if (field === undefined) return undefined;
  const oddFields: Mismatch[] = [];
  const shown: Record<string, unknown> = {};
  for (const [key, [fits, expected]] of Object.entries(pageFields)) {
    const given = key === field ? undefined : (value[key] ?? undefined);
    if (given === undefined) continue;
    if (fits(given)) shown[key] = given;
    else oddFields.push({ field: key, path: [key], expected, received: received(given, redact) });
  }
  const page = { items: (value[field] ?? []) as readonly unknown[], field };
  return { ...page, ...readOther(value, page), ...shown, oddFields };
}

/**
 * Tells whether there is another page: if the response does not say so, its numbers do; without any, it is the whole list.
 * A page without a number is the one that was requested.
 */
export function hasNext(page: Page, asked: PageQuery): boolean {
  const { items, totalPages, totalCount } = page;
  if (page.hasNextPage !== undefined) return page.hasNextPage;
  const number = page.page || asked.page || 1;
  if (totalPages !== undefined) return number < totalPages;
  if (totalCount === undefined || items.length === 0) return false;
  // The last page is shorter than the others.
  const before = (number - 1) * (page.pageSize || asked.pageSize || defaultPageSize);
  return before + items.length !== totalCount && number * (page.pageSize || items.length) < totalCount;
}

/**
 * The list as the library returns it: `items`, and whatever else came with them under its own name. A single value is its
 * only item. If `items` is the name of something else in the response, all of it is in `response`.
 * @param page what `readPage` read of the value
 */
export function asList(value: unknown, page: Page | undefined): object {
  if (!isFields(value)) return { items: page?.items ?? [value] };
  const { [page?.field ?? 'items']: _, ...others } = value;
  const hidden = page?.field !== 'items' && value.items !== undefined;
  return { ...others, ...(hidden && { response: value }), items: page?.items ?? [] };
}
