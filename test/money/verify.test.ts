import { describe, expect, it } from 'vitest';
import { ContractError } from '../../src/errors.ts';
import { verifySummary } from '../../src/money/verify.ts';

const eur = (...totals: string[]) => totals.map((total) => ({ total, currency: 'EUR' }));
const stated = (orderCount: number, totalRevenue: string) => ({ orderCount, totalRevenue });

describe('verifySummary accepts a summary', () => {
  it.each([
    ['of no orders', [], stated(0, '0')],
    ['of no orders, with decimals', [], stated(0, '-0.00')],
    ['that floats would get wrong', eur('0.1', '0.2'), stated(2, '0.3')],
    ['beyond the precision of a float', eur('9007199254740993', '0.01'), stated(2, '9007199254740993.01')],
    ['with differently written numbers', eur('10.50', '1e2'), stated(2, '1.105E2')],
    ['with a refund', eur('10.00', '-2.50'), stated(2, '7.5')],
    ['with more than two decimals', eur('0.0001', '0.0002'), stated(2, '0.0003')],
  ])('%s', (_what, orders, summary) => expect(verifySummary(orders, summary).addsUp).toBe(true));
});

describe('verifySummary rejects a summary', () => {
  it.each([
    ['that is one cent too high', eur('10.00', '20.00'), stated(2, '30.01'), '0.01'],
    ['that is one cent too low', eur('10.00', '20.00'), stated(2, '29.99'), '-0.01'],
    [
      'that was added up with floats',
      eur('0.1', '0.2'),
      stated(2, '0.30000000000000004'),
      '0.00000000000000004',
    ],
    [
      'with a difference below the precision of a float',
      eur('9007199254740993'),
      stated(1, '9007199254740992'),
      '-1',
    ],
    ['with a wrong count and a right sum', eur('10', '20'), stated(3, '30'), '0'],
    ['with a missing order of zero', eur('10'), stated(2, '10'), '0'],
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

  it('names the field whose value is not an amount', () => {
    const fieldOf = (run: () => unknown) => {
      try {
        run();
      } catch (error) {
        return (error as ContractError).field;
      }
    };
    expect(fieldOf(() => verifySummary(eur('1', '1e-2000'), stated(2, '1')))).toBe('orders[1].total');
    expect(fieldOf(() => verifySummary([], stated(0, '1e-2000')))).toBe('totalRevenue');
    expect(() => verifySummary(eur('x'), stated(1, '1'))).toThrow(ContractError);
  });
});
