import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
// @ts-expect-error a script, which has no types
import { inTurn, quantile, ratios, summary } from '../../bench/statistics.mjs';

const some = fc.array(fc.double({ min: 0.001, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 50 });

describe('a quantile', () => {
  it.each([
    [[3], 0.9, 3],
    [[10, 1, 2], 0.5, 2],
    [[9, 10, 100], 0.5, 10],
    [[5, 4, 3, 2, 1, 0], 0, 0],
    [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.1, 1],
    [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.9, 9],
  ])('of %j at %d is %d', (values, part, expected) => {
    expect(quantile(values, part)).toBe(expected);
  });

  it('is one of the values, whatever their order, and leaves them unsorted', () => {
    fc.assert(
      fc.property(some, fc.double({ min: 0, max: 1, noNaN: true }), (values, part) => {
        const before = [...values];
        const found = quantile(values, part);
        expect(values).toContain(found);
        expect(quantile(values.toReversed(), part)).toBe(found);
        expect(values).toEqual(before);
      }),
    );
  });

  it('of an empty list is an error', () => {
    expect(() => quantile([], 0.5)).toThrow('no values');
  });
});

it('a summary is in ascending order', () => {
  fc.assert(
    fc.property(some, (values) => {
      const { low, median, high } = summary(values);
      expect(low <= median && median <= high).toBe(true);
    }),
  );
});

describe('ratios', () => {
  it('are calculated round by round, so that a slow round does not affect them', () => {
    const base = [10, 10, 500, 10, 400];
    expect(
      ratios(
        base.map((one) => one * 1.5),
        base,
      ),
    ).toEqual({ low: 1.5, median: 1.5, high: 1.5 });
  });

  it('of lists of different lengths are an error', () => {
    expect(() => ratios([1, 2], [1])).toThrow('2 values over 1');
  });
});

it('measurements take turns, each round begins with another one, and the first round is not counted', async () => {
  const order: string[] = [];
  const measure = (name: string) => async () => order.push(name);
  const found = await inTurn(3, { a: measure('a'), b: measure('b') });
  expect(order.join('')).toBe('ab' + 'ba' + 'ab' + 'ba');
  expect(found).toEqual({ a: [4, 5, 8], b: [3, 6, 7] });
});
