import { ContractError } from '../errors.ts';

/**
 * An exact decimal number: `units / 10^scale`. The scale is that of the text it was read from, so that a sum of
 * prices with two decimals has two decimals.
 *
 * Our own, over BigInt, since we need four operations and a bound: the small decimal libraries take any exponent,
 * and one order of `1e999999999` would have them write a billion zeros; they drop the zeros at the end as well.
 */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

export const zero: Decimal = { units: 0n, scale: 0 };

/** More digits, or a larger exponent either way, is no amount of money: what adds it up could be kept busy. */
const limit = 1000;

const jsonNumber = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function refuse(text: string, field: string): ContractError {
  const received = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  const expected = `a number of at most ${limit} digits with an exponent within ±${limit}`;
  const where = field === '' ? 'the value' : field;
  return new ContractError(
    `${where} cannot be an amount of money: expected ${expected}, received ${received}`,
    {
      field,
      expected,
      received,
    },
  );
}

/**
 * Reads a number as JSON writes it, every digit of it.
 * @param field where it stands, for the error: `orders[3].total`
 * @throws ContractError when it is not a number of JSON, or so large or fine that it cannot be money
 */
export function parseDecimal(text: string, field = ''): Decimal {
  // The length first: a megabyte of digits is not worth a look.
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

/** Below 0 when `a` is less, 0 when both are the same number however it was written, above 0 when it is more. */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const { units } = subtract(a, b);
  if (units === 0n) return 0;
  return units < 0n ? -1 : 1;
}

/** In plain digits, never with an exponent: `-0.50`. Reading it gives the same number again. */
export function formatDecimal({ units, scale }: Decimal): string {
  const sign = units < 0n ? '-' : '';
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
