import * as z from 'zod/mini';
import { dateTimeMs, toRfc3339 } from './date-time.ts';
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

/** A response the interface does not show: any JSON, or nothing. */
export const anyResponse: Schema<unknown, unknown> = z.unknown();

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

/** A field that the interface does not call required: it may be missing or null, in a response and in a request. */
export const optional = <S extends Schema>(schema: S) => z.nullish(schema);

/** A date and time in a response, as text: RFC 3339 or ISO 8601. */
export const dateTime = z
  .stringFormat('datetime', (text) => dateTimeMs(text) !== null)
  .register(shown, { format: 'date-time' });

/** A date and time in a request, as text. It is sent as RFC 3339 writes it. */
export const sentDateTime = z
  .stringFormat('date-time', (text) => toRfc3339(text) !== null)
  .check(z.overwrite((text) => toRfc3339(text) ?? text))
  .register(shown, { format: 'date-time' });

/** Items of a page if nothing else is requested (interface, section 2.9). */
export const defaultPageSize = 20;

/** Interface, section 8: pages are 1-indexed. */
export const page = {
  page: described(z.optional(z.int().check(z.gte(1))), 'page number, from 1'),
  pageSize: described(z.optional(z.int().check(z.gte(1))), 'items per page', { default: defaultPageSize }),
};

/** The query of a paged list: `page`, `pageSize` and the list's own filters. */
export function pageQuery<const Shape extends z.core.$ZodShape>(filters: Shape) {
  return z.strictObject({ ...filters, ...page });
}

/** A number of a page, which `readPage` takes for missing below 0. */
const atLeast = (minimum: number) => optional(z.int().register(shown, { minimum }));

/** The examples are those of one page that is the whole list. */
const isThere = () => optional(z.boolean().register(shown, { examples: [false] }));

/** Interface, section 2.9: the shape that many lists share. */
function pageOf<Item extends Schema>(item: Item) {
  return z.looseObject({
    items: z.array(item),
    totalCount: atLeast(0),
    page: atLeast(1),
    pageSize: atLeast(1),
    totalPages: atLeast(0),
    hasNextPage: isThere(),
    hasPreviousPage: isThere(),
  });
}

/** The response of a list that the interface calls paged. */
export const pagedList = <Item extends Schema>(item: Item) =>
  ({ list: true, response: pageOf(item) }) as const;

/** The response of a list whose shape the interface does not show. */
export const listOf = <Item extends Schema>(item: Item) =>
  ({ list: true, anyBody: true, response: z.union([z.array(item), pageOf(item)]) }) as const;
