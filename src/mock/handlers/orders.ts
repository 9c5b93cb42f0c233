import type { orders } from '../../contract/orders.ts';
import { objectText } from '../../json/text.ts';
import { add, formatDecimal, parseDecimal, zero } from '../../money.ts';
import type { StoredOrder } from '../data/orders.ts';
import { MockError } from '../response.ts';
import type { HandlersOf } from '../service.ts';

/** The currency of the revenue when orders have several. */
const accountCurrency = 'EUR';

/** Returns `€12,345.60`: symbol, thousands separators and two decimals, formatted from text without a double. */
function displayMoney(total: string, currency: string): string {
  const format = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
  return format.format(total as Intl.StringNumericLiteral);
}

function currencyOf(orders: readonly StoredOrder[]): string {
  const [first = accountCurrency, ...more] = new Set(orders.map(({ currency }) => currency));
  return more.length === 0 ? first : accountCurrency;
}

/** Returns an object as JSON text, in which amounts, which are decimal text, become numbers with the same digits. */
function exactText(body: object): string {
  const isAmount = (name: string) => name === 'total' || name === 'totalRevenue';
  return objectText(
    Object.entries(body).map(([name, value]) => [name, isAmount(name) ? value : JSON.stringify(value)]),
  );
}

const roundedOrder = (order: StoredOrder) => ({ ...order, total: Number(order.total) });

export const ordersHandlers: HandlersOf<typeof orders> = {
  'orders.list': ({ account: { orders } }) => {
    return {
      body: { orders: orders.map(roundedOrder) },
      text: `{"orders":[${orders.map(exactText).join(',')}]}`,
    };
  },

  'orders.summary': ({ account: { orders } }) => {
    const totalRevenue = formatDecimal(orders.map(({ total }) => parseDecimal(total)).reduce(add, zero));
    const rest = {
      orderCount: orders.length,
      totalRevenueDisplay: displayMoney(totalRevenue, currencyOf(orders)),
    };
    return {
      body: { ...rest, totalRevenue: Number(totalRevenue) },
      text: exactText({ ...rest, totalRevenue }),
    };
  },

  'orders.get': ({ params, account }) => {
    const order = account.orders.find(({ id }) => id === params.id);
    // The response must not reveal whether another account has the order.
    if (order === undefined) {
      throw new MockError(404, 'Order not found', 'the account has no order with this id');
    }
    return { body: roundedOrder(order), text: exactText(order) };
  },
};
