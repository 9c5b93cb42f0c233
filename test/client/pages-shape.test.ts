import { describe, expect, test } from 'vitest';
import { ContractError } from '../../src/errors.ts';
import { readPage } from '../without-redaction.ts';
import { thrown } from './rejection.ts';

const paged = {
  items: [1, 2],
  totalCount: 5,
  page: 1,
  pageSize: 2,
  totalPages: 3,
  hasNextPage: true,
  hasPreviousPage: false,
};

describe('a list', () => {
  test('is read in the paged shape', () => {
    expect(readPage(paged)).toEqual({
      items: [1, 2],
      field: 'items',
      totalCount: 5,
      page: 1,
      pageSize: 2,
      totalPages: 3,
      hasNextPage: true,
    });
  });

  test.each([
    ['a bare array', [1, 2], undefined],
    ['an object that has only items', { items: [1, 2] }, 'items'],
    ['an object with one array of any name', { variables: [1, 2], total: 2 }, 'variables'],
    ['an object with items and other arrays', { items: [1, 2], warnings: [] }, 'items'],
    ['an object whose only array has the name of a count', { page: [1, 2] }, 'page'],
    [
      'an object whose other fields are null',
      { items: [1, 2], page: null, totalCount: null, hasNextPage: null },
      'items',
    ],
  ])('is whole as %s', (_, value, field) => {
    expect(readPage(value)).toEqual({ items: [1, 2], ...(field && { field }), hasNextPage: false });
  });

  test.each([
    ['nothing, as in a 204', undefined],
    ['null', null],
    ['an object whose items are null', { items: null, totalCount: 0 }],
  ])('is empty as %s', (_, value) => {
    expect(readPage(value)).toMatchObject({ items: [], hasNextPage: false });
  });

  test.each([
    [{ page: 1, totalPages: 3 }, true],
    [{ page: 3, totalPages: 3 }, false],
    [{ page: 2, pageSize: 2, totalCount: 5 }, true],
    [{ page: 3, pageSize: 2, totalCount: 5 }, false],
    [{ totalPages: 3 }, false],
    [{ page: 1, totalCount: 5 }, false],
    [{ page: 3, totalPages: 3, hasNextPage: true }, true],
  ])('that says %j has a next page: %j', (fields, expected) => {
    expect(readPage({ items: [], ...fields })?.hasNextPage).toBe(expected);
  });

  test.each([['text'], [7], [{}], [{ items: {} }], [{ a: [], b: [] }], [{ data: null }]])(
    'is not what %j is',
    (value) => {
      expect(readPage(value)).toBeUndefined();
    },
  );

  test.each([
    ['page', '1', 'string "1"'],
    ['totalPages', 1.5, 'number 1.5'],
    ['totalCount', -1, 'number -1'],
    ['pageSize', [], 'an empty array'],
    ['hasNextPage', 'yes', 'string "yes"'],
  ])('whose %s is %j is refused by that name', (field, value, received) => {
    const error = thrown(
      () => readPage({ items: [], [field]: value }, 'GET /api/environments'),
      ContractError,
    );
    expect(error).toMatchObject({ field, received });
    expect(error.message).toContain(
      `the response to GET /api/environments does not match the contract: ${field}: expected`,
    );
  });
});
