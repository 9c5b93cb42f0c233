import { UsageError } from '../../errors.ts';
import { formatDecimal } from '../../money.ts';
import { type Draw, drawer, seededIds } from '../random.ts';

const givenNames = 'Anna, Zoë, José, Björn, Siobhán, Priya, Łukasz, Oğuz, Grace'.split(', ');
const familyNames = "Müller, García Núñez, O'Brien, Sørensen, Patel, Ng, Dvořák".split(', ');
/** Other kinds of names: not in Latin letters, or hard to parse. */
const others =
  '田中 美咲|Νίκος Παπαδόπουλος|نور حداد|Kávé & Társa Kft.|Baker, Reed "& Sons"|Null Object GmbH'.split('|');

function customerName(draw: Draw): string {
  return draw.chance(0.2) ? draw.pick(others) : `${draw.pick(givenNames)} ${draw.pick(familyNames)}`;
}

/** An order for the mock's data set; the mock generates omitted fields. */
export interface OwnOrder {
  id?: string;
  customer?: string;
  /** Decimal text. The mock sends its digits unchanged, even those that a double cannot hold. */
  total: string;
  currency?: string;
  placedAt?: string;
}

export type StoredOrder = Required<OwnOrder>;

/** A currency with the digits of its minor unit (two for cents, none for the yen), and the minor units in about one euro. */
type Pricing = readonly [currency: string, digits: number, rate: number];

const euro: Pricing = ['EUR', 2, 100];
const dollar: Pricing = ['USD', 2, 110];

/** Repeated according to their frequency: mostly euros, rarely yen. */
const pricings: readonly Pricing[] = [
  ...[euro, euro, euro, euro, euro, dollar, dollar, dollar],
  ['GBP', 2, 85],
  ['JPY', 0, 160],
];

const dayMs = 86_400_000;
/** The period that the orders of a data set cover. */
const spanMs = 150 * dayMs;

/** Returns a total of about 5 to 3000 euros; small totals are more frequent. */
function total(draw: Draw, [, digits, rate]: Pricing): string {
  const units = Math.round(5 * rate * 600 ** (draw.fraction() ** 2));
  return formatDecimal({ units: BigInt(units), scale: digits });
}

function checkedOrder(order: StoredOrder): StoredOrder {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(order.total)) return order;
  throw new UsageError(`the mock's order ${order.id}: the total "${order.total}" is not decimal text`);
}

/** Returns orders, newest first, all placed before `until`. */
export function makeOrders(seed: number, wanted: number | readonly OwnOrder[], until: number): StoredOrder[] {
  const given = typeof wanted === 'number' ? [] : wanted;
  const count = typeof wanted === 'number' ? wanted : wanted.length;
  const nextId = seededIds(seed, 'ord');
  const drawAt = drawer(seed, 'orders');
  return Array.from({ length: count }, (_, index) => {
    const draw = drawAt(index);
    const pricing = draw.pick(pricings);
    const placedAt = until - Math.ceil(((index + draw.fraction()) * spanMs) / count);
    return checkedOrder({
      id: nextId(),
      customer: customerName(draw),
      total: total(draw, pricing),
      currency: pricing[0],
      placedAt: new Date(placedAt).toISOString(),
      ...given[index],
    });
  });
}
