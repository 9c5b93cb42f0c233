import * as z from 'zod/mini';
import type { Schema } from './endpoint.ts';

/** A reply the interface does not show: any JSON, or nothing. */
export const anyReply: Schema<unknown, unknown> = z.unknown();

/** A body the interface does not show: an object of whatever fields the service takes. */
export const openBody = z.looseObject({});

/**
 * A string whose known values are listed but not closed: readers accept any string, since the service may
 * learn new ones; writers (the mock) may only use those listed.
 */
export function openEnum<const Known extends string>(
  _known: readonly Known[],
): Schema<Known | (string & Record<never, never>), Known> {
  return z.string() as unknown as Schema<Known | (string & Record<never, never>), Known>;
}

/** ISO 8601 date and time, as text. */
export const dateTime = z.iso.datetime({ offset: true, local: true });

/** Interface, sections 2.9 and 8: pages are 1-indexed. */
const page = { page: z.optional(z.int().check(z.gte(1))), pageSize: z.optional(z.int().check(z.gte(1))) };

/** The query of a paged list: `page`, `pageSize` and the list's own filters. */
export function pageQuery<const Shape extends z.core.$ZodShape>(filters: Shape) {
  return z.strictObject({ ...filters, ...page });
}

/** Interface, section 2.9: the shape that many lists share. */
export function paged<Item extends Schema>(item: Item) {
  return z.looseObject({
    items: z.array(item),
    totalCount: z.int(),
    page: z.int(),
    pageSize: z.int(),
    totalPages: z.int(),
    hasNextPage: z.boolean(),
    hasPreviousPage: z.boolean(),
  });
}

/** A list whose shape the interface does not show: the paged shape, a bare array or `{ items: [] }`. */
export function listOf<Item extends Schema>(item: Item) {
  return z.union([z.array(item), z.looseObject({ items: z.array(item) })]);
}
