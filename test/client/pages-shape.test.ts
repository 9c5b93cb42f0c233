import { describe, expect, test } from 'vitest';
import { ContractError } from '../../src/errors.ts';
import { readPage } from '../as-it-is.ts';
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
      totalCount: 5,
      page: 1,
      pageSize: 2,
      totalPages: 3,
      hasNextPage: true,
    });
  });

  test.each([
    ['a bare array', [1, 2]],
    ['an object that has only items', { items: [1, 2] }],
    [
      'an object whose other fields are null',
      { items: [1, 2], page: null, totalCount: null, hasNextPage: null },
    ],
  ])('is whole as %s', (_, value) => {
    expect(readPage(value)).toEqual({ items: [1, 2], hasNextPage: false });
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

  test.each([[undefined], [null], ['text'], [7], [{}], [{ items: {} }], [{ orders: [] }]])(
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
    const error = thrown(() => readPage({ items: [], [field]: value }, 'env.list'), ContractError);
    expect(error).toMatchObject({ field, received });
    expect(error.message).toContain(`env.list: ${field} is not as the contract says`);
  });
});
