import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLimits, jsonSize } from '../../src/json/tokens.ts';

const nested = (depth: number, inside = '1') => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;

describe('the depth of JSON text', () => {
  test.each([
    ['a value under a duplicate name', `{"a":${nested(500)},"a":1}`, 501],
    ['a list of many items', `[${'{"a":[]},'.repeat(2000)}1]`, 3],
    ['a string with many brackets', JSON.stringify(['['.repeat(5000)]), 1],
    ['nested lists with closing brackets in strings', `${'["]",'.repeat(501)}1${']'.repeat(501)}`, 501],
    ['a million levels', nested(1_000_000), 1_000_000],
    ['text that ends inside a string', '[["]', 2],
  ])('is correct for %s', (_, text, expected) => {
    expect(jsonSize(text).depth).toBe(expected);
  });
});

/** Returns the number of values by definition: the value itself and all of its members. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 1);
}

describe('the number of values in JSON text', () => {
  test('is correct to within a factor of 2', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const [counted, values] = [jsonSize(text).values, valuesIn(JSON.parse(text))];
        expect(counted).toBeLessThanOrEqual(2 * values);
        expect(values).toBeLessThanOrEqual(2 * counted + 1);
      }),
    );
  });

  test('is below the limit for a list of 50,000 items with 8 fields', () => {
    const item = JSON.stringify({ id: 1, a: 'x,y', b: null, c: true, d: 'z', e: 1.5, f: '', g: '[]' });
    expect(jsonSize(`[${Array(50_000).fill(item).join(',')}]`).values).toBeLessThan(jsonLimits.values);
    const zeros = Array(jsonLimits.values + 1).fill('0');
    expect(jsonSize(`[${zeros.join(',')}]`).values).toBeGreaterThan(jsonLimits.values);
  });
});
