import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDecimals, fromMinorUnits, isDecimal } from '../../src/mock/decimal.ts';

/** Whole units and a number of digits after the point: any decimal without an exponent. */
const decimals = fc.tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat({ max: 12 }));

/** Written another way than the code does it: by moving the point from the right, character by character. */
function write(units: bigint, scale: number): string {
  const digits = [...String(units < 0n ? -units : units).padStart(scale + 1, '0')];
  if (scale > 0) digits.splice(-scale, 0, '.');
  return (units < 0n ? '-' : '') + digits.join('');
}

describe('adding decimals', () => {
  it.each([
    [[], '0'],
    [['1.10', '2.20'], '3.30'],
    [['0.1', '0.2'], '0.3'],
    [['1.5', '800', '0.125'], '801.625'],
    [['9007199254740993.07', '0.01'], '9007199254740993.08'],
    [['5.00', '-7.25'], '-2.25'],
    [['-0.05', '0.05'], '0.00'],
    [['-0.05'], '-0.05'],
  ])('%j is %s', (texts, sum) => expect(addDecimals(texts)).toBe(sum));

  it('is exact for any decimals there are', () => {
    fc.assert(
      fc.property(fc.array(decimals, { maxLength: 50 }), (list) => {
        const scale = Math.max(0, ...list.map(([, one]) => one));
        const units = list.reduce((sum, [value, one]) => sum + value * 10n ** BigInt(scale - one), 0n);
        expect(addDecimals(list.map(([value, one]) => write(value, one)))).toBe(write(units, scale));
      }),
    );
  });
});

describe('decimal text', () => {
  it.each([
    [1250, 2, '12.50'],
    [5, 2, '0.05'],
    [12800, 0, '12800'],
    [1, 3, '0.001'],
  ])('of %i minor units with %i digits is %s', (units, digits, text) =>
    expect(fromMinorUnits(units, digits)).toBe(text),
  );

  it.each([
    ['0', true],
    ['-1.50', true],
    ['1e3', false],
    ['01', false],
    ['1.', false],
    ['.5', false],
    ['', false],
    ['NaN', false],
  ])('%j: %j', (text, is) => expect(isDecimal(text)).toBe(is));
});
