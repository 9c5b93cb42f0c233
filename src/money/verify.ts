import { add, compare, type Decimal, formatDecimal, parseDecimal, subtract, zero } from './decimal.ts';

/** An order, with its total as the decimal text of the response. */
export interface OrderAmount {
  readonly total: string;
  readonly currency: string;
}

/** A summary, with `totalRevenue` as the decimal text of the response. */
export interface SummaryAmount {
  readonly orderCount: number;
  readonly totalRevenue: string;
}

/** A summary compared with the sum of its list. Amounts are exact decimal text. */
export interface Verification {
  orderCount: { stated: number; counted: number };
  /** `difference` is `stated` minus `summed`. */
  totalRevenue: { stated: string; summed: string; difference: string };
  /** By currency code, in alphabetical order. */
  byCurrency: { currency: string; count: number; total: string }[];
  addsUp: boolean;
}

/**
 * Adds up the list and compares it with the summary (interface, section 2.3): the sum covers all orders, whatever their
 * currency.
 * @throws ContractError if a total cannot be an amount of money
 */
export function verifySummary(orders: readonly OrderAmount[], summary: SummaryAmount): Verification {
  const stated = parseDecimal(summary.totalRevenue, 'totalRevenue');
  const sums = new Map<string, { count: number; total: Decimal }>();
  orders.forEach(({ total, currency }, index) => {
    const amount = parseDecimal(total, `orders[${index}].total`);
    const sum = sums.get(currency) ?? { count: 0, total: zero };
    sums.set(currency, { count: sum.count + 1, total: add(sum.total, amount) });
  });
  const summed = [...sums.values()].reduce((all, { total }) => add(all, total), zero);
  const byCurrency = [...sums.keys()].toSorted().map((currency) => {
    const { count, total } = sums.get(currency) ?? { count: 0, total: zero };
    return { currency, count, total: formatDecimal(total) };
  });
  return {
    orderCount: { stated: summary.orderCount, counted: orders.length },
    totalRevenue: {
      stated: formatDecimal(stated),
      summed: formatDecimal(summed),
      difference: formatDecimal(subtract(stated, summed)),
    },
    byCurrency,
    addsUp: compare(stated, summed) === 0 && summary.orderCount === orders.length,
  };
}
