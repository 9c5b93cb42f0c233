import type { orders } from '../../contract/orders.ts';
import { objectText } from '../../json/text.ts';
import { add, formatDecimal, parseDecimal, zero } from '../../money.ts';
import type { StoredOrder } from '../data/orders.ts';
import { requireFound } from '../response.ts';
import type { HandlersOf } from '../service.ts';

/** The currency of the revenue when orders have several. */
const accountCurrency = 'EUR';

/** Returns `€12,345.60`: symbol, thousands separators and two decimals, formatted from text without a double. */
function displayMoney(total: string, orders: readonly StoredOrder[]): string {
  const [first = accountCurrency, ...more] = new Set(orders.map(({ currency }) => currency));
  const currency = more.length === 0 ? first : accountCurrency;
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency, ...digits });
  return format.format(total as Intl.StringNumericLiteral);
}

/** Returns an object as JSON text, in which amounts, which are decimal text, become numbers with the same digits. */
function exactText(body: object): string {
  const isAmount = (name: string) => name === 'total' || name === 'totalRevenue';
  return objectText(
    Object.entries(body).map(([name, value]) => [name, isAmount(name) ? value : JSON.stringify(value)]),
  );
}

export const ordersHandlers: HandlersOf<typeof orders> = {
  'orders.list': ({ account: { orders } }) => ({ text: `{"orders":[${orders.map(exactText).join(',')}]}` }),

  'orders.summary': ({ account: { orders } }) => {
    const totalRevenue = formatDecimal(orders.map(({ total }) => parseDecimal(total)).reduce(add, zero));
    const totalRevenueDisplay = displayMoney(totalRevenue, orders);
    return { text: exactText({ orderCount: orders.length, totalRevenueDisplay, totalRevenue }) };
  },

  'orders.get': ({ params: { id }, account: { orders } }) => {
    const order = orders.find((one) => one.id === id);
    return { text: exactText(requireFound(order, 'Order', id)) };
  },
};
