import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnexpectedResponseError } from '../src/errors.ts';
import { add, compare, formatDecimal, parseDecimal, subtract, verifySummary, zero } from '../src/money.ts';

describe('parseDecimal', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['0.10', '0.10'],
    ['-0.05', '-0.05'],
    ['1e5', '100000'],
    ['1.5e3', '1500'],
    ['1e-2', '0.01'],
    ['-12.5e-3', '-0.0125'],
    ['1e000000002', '100'],
    [`1e1000`, `1${'0'.repeat(1000)}`],
    [`1e-1000`, `0.${'0'.repeat(999)}1`],
  ])('reads %s as %s', (text, plain) => expect(formatDecimal(parseDecimal(text))).toBe(plain));

  it.each(['', '1.', '01', '+1', '1e', 'NaN', '1,5', ' 1', '"1"', '١', '1e1001', '1e-1001'])(
    'refuses %j, which is not a JSON number, or not of money',
    (text) => expect(() => parseDecimal(text)).toThrow(UnexpectedResponseError),
  );
});

/** A JSON number as text, and its value as an integer in units of 10^-160, for reference. */
const wireNumber = fc
  .record({
    negative: fc.boolean(),
    whole: fc.bigInt({ min: 0n, max: 10n ** 30n }),
    fraction: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 25 }),
    exponent: fc.option(fc.integer({ min: -60, max: 60 })),
    e: fc.constantFrom('e', 'E'),
    plus: fc.boolean(),
    zeros: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ negative, whole, fraction, exponent, e, plus, zeros }) => {
    const digits = fraction.join('');
    const power = exponent ?? 0;
    const sign = power < 0 ? '-' : plus ? '+' : '';
    const tail = exponent === null ? '' : `${e}${sign}${'0'.repeat(zeros)}${Math.abs(power)}`;
    const text = `${negative ? '-' : ''}${whole}${digits === '' ? '' : `.${digits}`}${tail}`;
    const over = 10n ** 100n;
    // Every number above is an integer in units of 10^-160.
    const units = (whole * over + BigInt(digits || '0') * 10n ** BigInt(100 - digits.length)) * 10n ** 60n;
    const scaled = power < 0 ? units / 10n ** BigInt(-power) : units * 10n ** BigInt(power);
    return { text, value: negative ? -scaled : scaled };
  });

/** Returns the reference value of plain digits. */
function referenceOf(plain: string): bigint {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(plain) ?? [];
  if (whole === '') throw new Error(`not plain digits: ${plain}`);
  const units = BigInt(whole + fraction) * 10n ** BigInt(160 - fraction.length);
  return sign === '-' ? -units : units;
}

describe('for any JSON numbers', () => {
  it('parsing is exact', () =>
    fc.assert(
      fc.property(wireNumber, ({ text, value }) => {
        JSON.parse(text);
        expect(referenceOf(formatDecimal(parseDecimal(text)))).toBe(value);
      }),
      { numRuns: 200 },
    ));

  it('sums are exact in any order', () =>
    fc.assert(
      fc.property(fc.array(wireNumber, { maxLength: 40 }), (numbers) => {
        const sum = (texts: string[]) => texts.map((text) => parseDecimal(text)).reduce(add, zero);
        const texts = numbers.map(({ text }) => text);
        const expected = numbers.reduce((all, { value }) => all + value, 0n);
        expect(referenceOf(formatDecimal(sum(texts)))).toBe(expected);
        expect(sum(texts.toReversed())).toEqual(sum(texts));
      }),
      { numRuns: 150 },
    ));

  it('comparison is numeric', () =>
    fc.assert(
      fc.property(wireNumber, wireNumber, (a, b) => {
        const [left, right] = [parseDecimal(a.text), parseDecimal(b.text)];
        expect(compare(left, right)).toBe(a.value < b.value ? -1 : a.value > b.value ? 1 : 0);
        expect(compare(left, parseDecimal(formatDecimal(left)))).toBe(0);
        expect(compare(add(subtract(left, right), right), left)).toBe(0);
      }),
      { numRuns: 200 },
    ));
});

const eur = (...totals: string[]) => totals.map((total) => ({ total, currency: 'EUR' }));
const stated = (orderCount: number, totalRevenue: string) => ({ orderCount, totalRevenue });

describe('verifySummary accepts a summary', () => {
  it.each([
    ['of no orders', [], stated(0, '0')],
    ['that floats would get wrong', eur('0.1', '0.2'), stated(2, '0.3')],
    ['beyond the precision of a float', eur('9007199254740993', '0.01'), stated(2, '9007199254740993.01')],
    ['with a refund', eur('10.00', '-2.50'), stated(2, '7.5')],
    ['with more than two decimals', eur('0.0001', '0.0002'), stated(2, '0.0003')],
  ])('%s', (_what, orders, summary) => expect(verifySummary(orders, summary).addsUp).toBe(true));
});

describe('verifySummary rejects a summary', () => {
  it.each([
    ['that is one cent too high', eur('10.00', '20.00'), stated(2, '30.01'), '0.01'],
    [
      'that was added up with floats',
      eur('0.1', '0.2'),
      stated(2, '0.30000000000000004'),
      '0.00000000000000004',
    ],
    ['with a wrong count and a right sum', eur('10', '20'), stated(3, '30'), '0'],
  ])('%s', (_what, orders, summary, difference) => {
    const result = verifySummary(orders, summary);
    expect(result.addsUp).toBe(false);
    expect(result.totalRevenue.difference).toBe(difference);
  });
});

describe('verifySummary', () => {
  it('returns the stated and the counted values, and the total of each currency', () => {
    const orders = [
      { total: '10.50', currency: 'USD' },
      { total: '1000', currency: 'JPY' },
      { total: '1.5', currency: 'USD' },
      { total: '0.25', currency: 'EUR' },
    ];
    expect(verifySummary(orders, stated(4, '1012.25'))).toEqual({
      orderCount: { stated: 4, counted: 4 },
      totalRevenue: { stated: '1012.25', summed: '1012.25', difference: '0.00' },
      byCurrency: [
        { currency: 'EUR', count: 1, total: '0.25' },
        { currency: 'JPY', count: 1, total: '1000' },
        { currency: 'USD', count: 2, total: '12.00' },
      ],
      addsUp: true,
    });
  });
});
