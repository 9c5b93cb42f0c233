import type { orders } from '../../contract/orders.ts';
import { type HandlersOf, notYet } from '../handler.ts';

export const ordersHandlers: HandlersOf<typeof orders> = {
  'orders.list': notYet('orders.list'),
  'orders.summary': notYet('orders.summary'),
  'orders.get': notYet('orders.get'),
};
