import { describe, expect, test } from 'vitest';
import { hasNext } from '../../src/client/list.ts';
import { readPage } from '../without-redaction.ts';

const paged = {
  items: [1, 2],
  totalCount: 5,
  page: 1,
  pageSize: 2,
  totalPages: 3,
  hasNextPage: true,
  hasPreviousPage: false,
};

describe('a response with a list', () => {
  test('is read as a page of the API', () => {
    expect(readPage(paged)).toEqual({
      invalidFields: [],
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
  ])('reads %s as a complete list', (_, value, field) => {
    const page = readPage(value);
    expect(page).toEqual({ items: [1, 2], ...(field && { field }), invalidFields: [] });
    expect(page && hasNext(page, {})).toBeUndefined();
  });

  test.each([
    ['an empty body, as with a 204', undefined],
    ['null', null],
    ['an object whose items are null', { items: null, totalCount: 0 }],
  ])('reads %s as an empty list', (_, value) => {
    expect(readPage(value)).toMatchObject({ items: [], invalidFields: [] });
  });

  test.each<[object, object, boolean]>([
    [{ page: 3, totalPages: 3 }, {}, false],
    [{ totalPages: 3 }, { page: 3 }, false],
    [{ page: 3, pageSize: 2, totalCount: 5 }, {}, false],
    [{ totalCount: 12 }, { page: 2, pageSize: 10 }, false],
    [{ page: 3, totalPages: 3, hasNextPage: true }, {}, true],
    [{ totalCount: 5, hasNextPage: false }, {}, false],
  ])('with two items and %j, requested with %j, has a next page: %j', (fields, requested, expected) => {
    const page = readPage({ items: [1, 2], ...fields });
    expect(page && hasNext(page, requested)).toBe(expected);
  });

  test('without items has no next page, whatever its count', () => {
    expect(hasNext({ items: [], totalCount: 5 }, {})).toBe(false);
  });

  test.each([['text'], [7], [{}], [{ items: {} }], [{ a: [], b: [] }], [{ data: null }]])(
    'does not read %j as a list',
    (value) => {
      expect(readPage(value)).toBeUndefined();
    },
  );

  test.each([
    ['page', '1', 'string "1"'],
    ['totalPages', 1.5, 'number 1.5'],
    ['totalCount', -1, 'number -1'],
    ['totalCount', Number.POSITIVE_INFINITY, 'a number beyond 1.8e308'],
    ['hasNextPage', 'yes', 'string "yes"'],
  ])('omits %s if it is %j, and reports the field', (field, value, received) => {
    const page = readPage({ items: [1], [field]: value });
    expect(page).toMatchObject({ items: [1], invalidFields: [{ field, received }] });
    expect(page).not.toHaveProperty(field);
  });
});
