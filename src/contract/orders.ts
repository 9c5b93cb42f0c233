import * as z from 'zod/mini';
import { defineApi } from './endpoint.ts';
import { dateTime, shown } from './fields.ts';

/** An ISO 4217 code according to the interface. Any other text is accepted too, and orders are grouped by it. */
const currency = z.string().register(shown, { pattern: '^[A-Z]{3}$', examples: ['EUR'] });

/** Interface, section 2.1. */
const orderListItem = z
  .looseObject({
    id: z.string(),
    customer: z.string(),
    total: z.number(),
    currency,
    placedAt: dateTime,
  })
  .register(shown, { id: 'OrderListItem' });

/** Interface, section 2.2. */
export const order = z
  .looseObject({ id: z.string(), customer: z.string(), total: z.number(), currency })
  .register(shown, { id: 'Order' });

/** Interface, section 2.3: no properties other than these three are allowed. */
const orderSummary = z
  .strictObject({
    orderCount: z.int(),
    totalRevenue: z.number(),
    totalRevenueDisplay: z.string(),
  })
  .register(shown, { id: 'OrderSummary' });

export const orders = defineApi(
  { section: '4.1', auth: 'either' },
  {
    'orders.list': {
      method: 'GET',
      path: '/api/orders.json',
      summary: 'List the orders of the account',
      response: z.looseObject({ orders: z.array(orderListItem) }),
    },
    'orders.summary': {
      method: 'GET',
      path: '/api/orders/summary.json',
      summary: 'Show the number of orders and their total revenue',
      response: orderSummary,
    },
    'orders.get': {
      method: 'GET',
      path: '/api/orders/{id}.json',
      summary: 'Show one order of the account',
      response: order,
    },
  },
);
