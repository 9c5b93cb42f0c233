import { add, compare, type Decimal, formatDecimal, parseDecimal, subtract, zero } from './decimal.ts';

/** An order, its total as the decimal text that came over the wire. */
export interface OrderAmount {
  readonly total: string;
  readonly currency: string;
}

/** What the summary says, `totalRevenue` as the decimal text that came over the wire. */
export interface SummaryAmount {
  readonly orderCount: number;
  readonly totalRevenue: string;
}

/** A summary beside what its list adds up to. Amounts are plain decimal text, exact. */
export interface Verification {
  orderCount: { stated: number; counted: number };
  /** `difference` is `stated` less `summed`. */
  totalRevenue: { stated: string; summed: string; difference: string };
  /** By currency code, in alphabetical order. */
  byCurrency: { currency: string; count: number; total: string }[];
  addsUp: boolean;
}

/**
 * Adds the list up and compares (interface, section 2.3): the sum is over every order, whatever its currency.
 * @throws ContractError when a total cannot be an amount of money
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
