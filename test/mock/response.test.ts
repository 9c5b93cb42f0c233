import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MockPage, servedPage } from '../../src/mock/response.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const same = (item: number) => item;

describe('a page', () => {
  it('cannot be larger than the maximum', () => {
    expect(servedPage(numbers(1), { pageSize: 100 }, same).pageSize).toBe(100);
    expect(() => servedPage(numbers(1), { pageSize: 101 }, same)).toThrow(
      expect.objectContaining({
        status: 422,
        details: 'query.pageSize must be a number of at most 100, not 101',
      }),
    );
  });

  it('has its part of a list: all pages together have each item exactly once', () => {
    fc.assert(
      fc.property(fc.nat({ max: 400 }), fc.integer({ min: 1, max: 100 }), (count, pageSize) => {
        const seen: number[] = [];
        let page: MockPage<number>;
        let number = 0;
        do {
          number += 1;
          page = servedPage(numbers(count), { page: number, pageSize }, same);
          expect(page.hasPreviousPage).toBe(number > 1);
          expect(page.items.length).toBe(page.hasNextPage ? pageSize : page.items.length);
          seen.push(...page.items);
        } while (page.hasNextPage);
        expect(number).toBe(Math.max(1, page.totalPages));
        expect(seen).toEqual(Array.from({ length: count }, (_, index) => index));
      }),
    );
  });
});
