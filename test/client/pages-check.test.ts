import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { quickCheck } from '../../src/client/quick-check.ts';
import { api } from '../../src/contract/index.ts';

const schemas = [
  ...Object.values(api).map((endpoint) => endpoint.reply),
  z.object({ a: z.string(), b: z.optional(z.nullable(z.number())) }),
  z.array(z.object({ a: z.string().check(z.minLength(2)), d: z.iso.datetime() })),
  z.strictObject({ a: z.int() }),
  z.array(z.union([z.string(), z.boolean()])),
];

const names = [
  'a',
  'b',
  'd',
  'items',
  'page',
  'pageSize',
  'totalCount',
  'totalPages',
  'hasNextPage',
  'status',
];
const scalars = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const objects = fc.dictionary(fc.constantFrom(...names), scalars);
const page = fc.record({
  items: fc.array(objects, { maxLength: 3 }),
  totalCount: fc.oneof(fc.nat(), scalars),
  page: fc.nat(),
  pageSize: fc.nat(),
  totalPages: fc.nat(),
  hasNextPage: fc.boolean(),
  hasPreviousPage: fc.boolean(),
});

describe('the quick check', () => {
  test('judges as the schema does', () => {
    const values = fc.oneof(fc.jsonValue(), scalars, objects, fc.array(objects), page);
    fc.assert(
      fc.property(fc.constantFrom(...schemas), values, (schema, value) => {
        const expected = schema.safeParse(value);
        const result = quickCheck(schema).safeParse(value);
        expect(result.success).toBe(expected.success);
        expect(result.error?.issues).toEqual(expected.error?.issues);
      }),
      { numRuns: 3000 },
    );
  });

  test('gives a page that fits back as it is', () => {
    const { reply } = api['observations.list'];
    const value = { items: [{ status: 'open', more: 1 }], ...{ page: 1, pageSize: 20, totalPages: 1 } };
    const whole = { ...value, totalCount: 1, hasNextPage: false, hasPreviousPage: false };
    expect(quickCheck(reply).safeParse(whole).data).toBe(whole);
  });
});
