import * as z from 'zod/mini';
import type { Schema } from './endpoint.ts';

/**
 * What a JSON schema says of a schema of ours and zod cannot know: `id` makes it a component of the OpenAPI
 * document, everything else goes in as it stands. It has no effect on what is read or sent.
 */
export const shown = z.registry<{ readonly id?: string; readonly [keyword: string]: unknown }>();

/** A field with its description, for the help of its option and the OpenAPI document, which has the keywords too. */
export function described<Field extends Schema>(field: Field, description: string, keywords = {}): Field {
  shown.add(field, { description, ...keywords });
  return field;
}

/** The JSON schema of a string with known values and room for others. */
export const knownValues = (known: readonly string[]) => ({ anyOf: [{ enum: known }, { type: 'string' }] });

/** A reply the interface does not show: any JSON, or nothing. */
export const anyReply: Schema<unknown, unknown> = z.unknown();

/** A body the interface does not show: an object of whatever fields the service takes. */
export const openBody = z.looseObject({});

/**
 * A string whose known values are listed but not closed: readers accept any string, since the service may
 * learn new ones; writers (the mock) may only use those listed.
 */
export function openEnum<const Known extends string>(
  known: readonly Known[],
): Schema<Known | (string & Record<never, never>), Known> {
  return z.string().register(shown, knownValues(known)) as unknown as Schema<
    Known | (string & Record<never, never>),
    Known
  >;
}

/** ISO 8601 date and time, as text. */
export const dateTime = z.iso.datetime({ offset: true, local: true });

/** Interface, sections 2.9 and 8: pages are 1-indexed, and have 20 items where nothing else is asked for. */
const page = {
  page: described(z.optional(z.int().check(z.gte(1))), 'page number, from 1'),
  pageSize: described(z.optional(z.int().check(z.gte(1))), 'items per page', { default: 20 }),
};

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
