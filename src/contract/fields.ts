import * as z from 'zod/mini';
import { dateTimeMs, toRfc3339 } from '../date-time.ts';
import type { Schema } from './endpoint.ts';

/**
 * Additions to the JSON schema of a zod schema: `id` makes it a component of the OpenAPI document, and other keywords are
 * copied. They have no effect on requests and responses.
 */
export const shown = z.registry<{ readonly id?: string; readonly [keyword: string]: unknown }>();

/** Adds a description for the help and the OpenAPI document, and keywords for the document. */
export function described<Field extends Schema>(field: Field, description: string, keywords = {}): Field {
  // Other fields may have the same schema, and a named one has its own description.
  const one = z.clone(field, field._zod.def, { parent: true });
  shown.add(one, { ...shown.get(one), description, ...keywords });
  return one;
}

/** Returns the schema of an object that rungate writes, with a name for its type and in JSON schemas. */
export const result = <const Shape extends z.core.$ZodShape>(id: string, description: string, shape: Shape) =>
  z.strictObject(shape).register(shown, { id, description });

/** Returns the schema of a string with these values, with a name like that of `result`. */
export const choice = <const Value extends string>(
  id: string,
  values: readonly Value[],
  description?: string,
) => z.enum(values).register(shown, { id, ...(description !== undefined && { description }) });

/** Returns the JSON schema of a string with known values that accepts others. */
export const knownValues = (known: readonly string[]) => ({ anyOf: [{ enum: known }, { type: 'string' }] });

/** A response that the API does not describe: any JSON, or nothing. */
export const anyResponse: Schema<unknown, unknown> = z.unknown();

/** A body that the API does not describe: an object with any fields. */
export const openBody = z.looseObject({});

export const anyOrNoBody = { body: openBody, bodyOptional: true } as const;

/**
 * A string with known values. Readers accept any string, since the service may add values; writers (the mock) may use only
 * the known ones.
 */
export function openEnum<const Known extends string>(
  known: readonly Known[],
): Schema<Known | (string & Record<never, never>), Known> {
  return z.string().register(shown, knownValues(known)) as unknown as Schema<
    Known | (string & Record<never, never>),
    Known
  >;
}

/** A field that the API does not require: it may be missing or null, in responses and in requests. */
export const optional = <S extends Schema>(schema: S) => z.nullish(schema);

/** A date and time in a response, as text: RFC 3339 or ISO 8601. */
export const dateTime = z
  .stringFormat('datetime', (text) => dateTimeMs(text) !== null)
  .register(shown, { format: 'date-time' });

/** A date and time in a request, as text, or a date. It is sent as RFC 3339 writes it. */
export const sentDateTime = z
  .stringFormat('date-time', (text) => toRfc3339(text) !== null)
  .check(z.overwrite((text) => toRfc3339(text) ?? text))
  .register(shown, { format: 'date-time' });

/** The default number of items on a page. */
export const defaultPageSize = 20;

/** Pages are 1-indexed. */
export const page = {
  page: described(z.optional(z.int().check(z.gte(1))), 'page number, from 1'),
  pageSize: described(z.optional(z.int().check(z.gte(1))), 'items per page', { default: defaultPageSize }),
};

/** The query of a list that accepts `page` and `pageSize`, besides these filters. */
export const paged = <const Shape extends z.core.$ZodShape>(filters: Shape) =>
  ({ paged: true, query: z.strictObject({ ...filters, ...page }) }) as const;

/** A count on a page; `readPage` treats a negative one as missing. */
const atLeast = (minimum: number) => optional(z.int().register(shown, { minimum }));

/** The example fits a list of one page. */
const isThere = () => optional(z.boolean().register(shown, { examples: [false] }));

/** The shape that many lists share. */
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

/** Returns the response of a list that the API calls paged. */
export const pagedList = <Item extends Schema>(item: Item) =>
  ({ list: true, response: pageOf(item) }) as const;

/** Returns the response of a list whose shape the API does not describe. */
export const listOf = <Item extends Schema>(item: Item) =>
  ({ list: true, anyBody: true, response: z.union([z.array(item), pageOf(item)]) }) as const;
