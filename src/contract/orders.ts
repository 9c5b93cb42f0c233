import * as z from 'zod/mini';
import { defineApi, get } from './endpoint.ts';
import { dateTime, described, shown } from './fields.ts';

/** An ISO 4217 code according to the API. Any other text is accepted too, and orders are grouped by it. */
const currency = z.string().register(shown, { pattern: '^[A-Z]{3}$', examples: ['EUR'] });

const orderFields = {
  id: described(z.string(), "the order's id"),
  customer: described(z.string(), "the customer's display name"),
  total: described(z.number(), 'the amount in units of `currency`'),
  currency: described(currency, 'ISO 4217 code'),
};

const orderListItem = z
  .looseObject({ ...orderFields, placedAt: described(dateTime, 'when it was placed, ISO 8601') })
  .register(shown, { id: 'OrderListItem' });

export const order = z.looseObject(orderFields).register(shown, { id: 'Order' });

/** No properties other than these three are allowed. */
const orderSummary = z
  .strictObject({
    orderCount: described(z.int(), 'the number of orders'),
    totalRevenue: described(z.number(), "the exact sum of the orders' totals"),
    totalRevenueDisplay: described(z.string(), 'the sum for people, with a currency symbol'),
  })
  .register(shown, { id: 'OrderSummary' });

export const orders = defineApi(
  { auth: 'either' },
  {
    'orders.list': get('/api/orders.json', 'List the orders of the account', {
      response: z
        .looseObject({ orders: described(z.array(orderListItem), 'the orders of the account') })
        .register(shown, { id: 'OrderList' }),
    }),
    'orders.summary': get('/api/orders/summary.json', 'Show the number of orders and their total revenue', {
      response: orderSummary,
    }),
    'orders.get': get('/api/orders/{id}.json', 'Show one order of the account', { response: order }),
  },
);
