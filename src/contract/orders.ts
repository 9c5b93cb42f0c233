import * as z from 'zod/mini';
import { defineApi, get } from './endpoint.ts';
import { dateTime, shown } from './fields.ts';

/** An ISO 4217 code according to the API. Any other text is accepted too, and orders are grouped by it. */
const currency = z.string().register(shown, { pattern: '^[A-Z]{3}$', examples: ['EUR'] });

const orderListItem = z
  .looseObject({
    id: z.string(),
    customer: z.string(),
    total: z.number(),
    currency,
    placedAt: dateTime,
  })
  .register(shown, { id: 'OrderListItem' });

export const order = z
  .looseObject({ id: z.string(), customer: z.string(), total: z.number(), currency })
  .register(shown, { id: 'Order' });

/** No properties other than these three are allowed. */
const orderSummary = z
  .strictObject({
    orderCount: z.int(),
    totalRevenue: z.number(),
    totalRevenueDisplay: z.string(),
  })
  .register(shown, { id: 'OrderSummary' });

export const orders = defineApi(
  { auth: 'either' },
  {
    'orders.list': get('/api/orders.json', 'List the orders of the account', {
      response: z.looseObject({ orders: z.array(orderListItem) }),
    }),
    'orders.summary': get('/api/orders/summary.json', 'Show the number of orders and their total revenue', {
      response: orderSummary,
    }),
    'orders.get': get('/api/orders/{id}.json', 'Show one order of the account', { response: order }),
  },
);
