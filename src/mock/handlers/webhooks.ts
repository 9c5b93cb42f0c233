import type { webhooks } from '../../contract/webhooks.ts';
import { type HandlersOf, notYet } from '../handler.ts';

export const webhooksHandlers: HandlersOf<typeof webhooks> = {
  'webhooks.eventTypes': notYet('webhooks.eventTypes'),
  'webhooks.list': notYet('webhooks.list'),
  'webhooks.create': notYet('webhooks.create'),
  'webhooks.delete': notYet('webhooks.delete'),
  'webhooks.rotateSecret': notYet('webhooks.rotateSecret'),
  'webhooks.test': notYet('webhooks.test'),
  'webhooks.deliveries.list': notYet('webhooks.deliveries.list'),
  'webhooks.deliveries.get': notYet('webhooks.deliveries.get'),
  'webhooks.deliveries.retry': notYet('webhooks.deliveries.retry'),
};
