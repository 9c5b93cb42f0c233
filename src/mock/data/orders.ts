import { UsageError } from '../../errors.ts';
import { formatDecimal } from '../../money/decimal.ts';
import { type Choices, type Draw, drawer, seededIds } from '../random.ts';

const given: Choices<string> = [
  'Anna',
  'Zoë',
  'José',
  'Björn',
  'Siobhán',
  'Priya',
  'Łukasz',
  'Oğuz',
  'Grace',
];

const family: Choices<string> = ['Müller', 'García Núñez', "O'Brien", 'Sørensen', 'Patel', 'Ng', 'Dvořák'];

/** Names that are not a given and a family name in Latin letters, and those a program stumbles over. */
const others: Choices<string> = [
  '田中 美咲',
  'Νίκος Παπαδόπουλος',
  'نور حداد',
  'Kávé & Társa Kft.',
  'Baker, Reed "& Sons"',
  'Null Object GmbH',
];

function customerName(draw: Draw): string {
  return draw.chance(0.2) ? draw.pick(others) : `${draw.pick(given)} ${draw.pick(family)}`;
}

/** An order as the caller of the mock gives it; what is left out is made up. */
export interface OwnOrder {
  id?: string;
  customer?: string;
  /** Decimal text: its digits are sent as they are, also those that a double cannot hold. */
  total: string;
  currency?: string;
  placedAt?: string;
}

export type Order = Required<OwnOrder>;

interface Pricing {
  currency: string;
  /** Digits of the minor unit: cents have two, the yen has none. */
  digits: number;
  /** How many minor units make up about one euro. */
  rate: number;
}

const euro: Pricing = { currency: 'EUR', digits: 2, rate: 100 };
const dollar: Pricing = { currency: 'USD', digits: 2, rate: 110 };
const pound: Pricing = { currency: 'GBP', digits: 2, rate: 85 };
const yen: Pricing = { currency: 'JPY', digits: 0, rate: 160 };

/** As often as they are here: mostly euros, now and then yen. */
const pricings: Choices<Pricing> = [euro, euro, euro, euro, euro, dollar, dollar, dollar, pound, yen];

const dayMs = 86_400_000;
/** The orders of a data set were placed over this time. */
const spanMs = 150 * dayMs;

/** Many small ones and few large ones: from about 5 to 3000 euros. */
function total(draw: Draw, { digits, rate }: Pricing): string {
  const units = Math.round(5 * rate * 600 ** (draw.fraction() ** 2));
  return formatDecimal({ units: BigInt(units), scale: digits });
}

function checked(order: Order): Order {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(order.total)) return order;
  throw new UsageError(`the mock's order ${order.id}: the total "${order.total}" is not decimal text`);
}

/** The newest first; the first one was placed before `until`. */
export function makeOrders(seed: number, wanted: number | readonly OwnOrder[], until: number): Order[] {
  const own = typeof wanted === 'number' ? [] : wanted;
  const count = typeof wanted === 'number' ? wanted : wanted.length;
  const ids = seededIds(seed, 'ord');
  const drawAt = drawer(seed, 'orders');
  return Array.from({ length: count }, (_, index) => {
    const draw = drawAt(index);
    const pricing = draw.pick(pricings);
    const placedAt = until - Math.ceil(((index + draw.fraction()) * spanMs) / count);
    return checked({
      id: ids.at(index),
      customer: customerName(draw),
      total: total(draw, pricing),
      currency: pricing.currency,
      placedAt: new Date(placedAt).toISOString(),
      ...own[index],
    });
  });
}
