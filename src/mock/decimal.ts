/** A decimal as whole units of its last digit: 12.50 is 1250n at scale 2. */
interface Scaled {
  units: bigint;
  scale: number;
}

/** Digits with an optional sign and fraction, as JSON writes numbers without an exponent. */
const decimal = /^-?(?:0|[1-9]\d*)(?:\.(\d+))?$/;

export function isDecimal(text: string): boolean {
  return decimal.test(text);
}

function parse(text: string): Scaled {
  return { units: BigInt(text.replace('.', '')), scale: decimal.exec(text)?.[1]?.length ?? 0 };
}

function write({ units, scale }: Scaled): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const cut = digits.length - scale;
  const fraction = scale === 0 ? '' : `.${digits.slice(cut)}`;
  return `${units < 0n ? '-' : ''}${digits.slice(0, cut)}${fraction}`;
}

/** A number of minor units, cents or yen, as decimal text: 1250 with two digits is `12.50`. */
export function fromMinorUnits(units: number, digits: number): string {
  return write({ units: BigInt(units), scale: digits });
}

/** The exact sum, with as many digits after the point as the summand that has most; `0` of none. */
export function addDecimals(texts: Iterable<string>): string {
  let sum: Scaled = { units: 0n, scale: 0 };
  for (const text of texts) {
    const { units, scale } = parse(text);
    const common = Math.max(sum.scale, scale);
    const raised = (value: Scaled) => value.units * 10n ** BigInt(common - value.scale);
    sum = { units: raised(sum) + raised({ units, scale }), scale: common };
  }
  return write(sum);
}
