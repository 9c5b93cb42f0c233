import { UnexpectedResponseError } from './errors.ts';

/**
 * An exact decimal number: `units / 10^scale`. It keeps the scale of the text that it was read from, so a sum of prices
 * with two decimals has two decimals.
 *
 * Not a library, since four operations are enough, and they need a bound: the small decimal libraries accept any
 * exponent, so that one order of `1e999999999` would produce a billion zeros. They also drop trailing zeros.
 */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

export const zero: Decimal = { units: 0n, scale: 0 };

/** The limit for digits and for the exponent: more is not an amount of money, and adding it up could take too long. */
const limit = 1000;

const jsonNumber = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function refuse(text: string, field: string): UnexpectedResponseError {
  const received = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  const expected = `a number of at most ${limit} digits with an exponent within ±${limit}`;
  const where = field === '' ? 'the value' : field;
  return new UnexpectedResponseError(
    `${where} cannot be an amount of money: expected ${expected}, received ${received}`,
    {
      field,
      expected,
      received,
    },
  );
}

/**
 * Parses a JSON number exactly.
 * @param field its path, for the error: `orders[3].total`
 * @throws UnexpectedResponseError if it is not a JSON number, or has too many digits or too large an exponent for money
 */
export function parseDecimal(text: string, field = ''): Decimal {
  // Check the length first, so that a megabyte of digits is not parsed.
  const match = text.length > 2 * limit ? null : jsonNumber.exec(text);
  if (match === null) throw refuse(text, field);
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match;
  const exponent = Number(exponentText);
  if (whole.length + fraction.length > limit || Math.abs(exponent) > limit) throw refuse(text, field);
  const units = BigInt(`${sign}${whole}${fraction}`);
  const scale = fraction.length - exponent;
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

function unitsAt(value: Decimal, scale: number): bigint {
  return scale === value.scale ? value.units : value.units * 10n ** BigInt(scale - value.scale);
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: unitsAt(a, scale) + unitsAt(b, scale), scale };
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, { units: -b.units, scale: b.scale });
}

/** Returns -1, 0 or 1 if `a` is less than, equal to or greater than `b`, regardless of how they were written. */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const { units } = subtract(a, b);
  if (units === 0n) return 0;
  return units < 0n ? -1 : 1;
}

/** Formats a number in plain digits, without an exponent: `-0.50`. Parsing the text returns the same number. */
export function formatDecimal({ units, scale }: Decimal): string {
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

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
 * Adds up the list and compares it with the summary: the sum covers all orders, whatever their
 * currency.
 * @throws UnexpectedResponseError if a total cannot be an amount of money
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
