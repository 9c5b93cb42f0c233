import type { webhooks } from '../../contract/webhooks.ts';
import type { Delivery, Webhook } from '../data/webhooks.ts';
import { deliverTo } from '../events.ts';
import type { HandlersOf } from '../handler.ts';
import type { Credential, State } from '../state.ts';
import { known } from './find.ts';

type DeliveryApi = Pick<
  typeof webhooks,
  'webhooks.test' | 'webhooks.deliveries.list' | 'webhooks.deliveries.get' | 'webhooks.deliveries.retry'
>;

export function webhookOf(state: State, auth: Credential, id: string): Webhook {
  return known(state.account(auth.tenant).webhooks.get(id), 'Webhook', id);
}

function deliveryOf(webhook: Webhook, id: string): Delivery {
  return known(webhook.deliveries.get(id), 'Delivery', id);
}

/** In a list, what was sent is left out. */
function atAGlance({ payload: _payload, ...delivery }: Delivery) {
  return delivery;
}

/** Goes to the webhook whatever events it is registered for: it is asked for by name. */
const testEvent = 'webhook.test';

/** A delivery made to try the webhook. */
export function sendTest(state: State, webhook: Webhook): Delivery {
  return deliverTo(state, webhook, testEvent, { webhookId: webhook.id });
}

/** Sends a recorded delivery once more. */
export function sendAgain(state: State, webhook: Webhook, delivery: Delivery): void {
  delivery.attempts += 1;
  delivery.lastAttemptAt = new Date(state.clock.now()).toISOString();
  delivery.responseStatus = null;
  state.deliver(webhook, delivery);
}

export const deliveryHandlers: HandlersOf<DeliveryApi> = {
  'webhooks.test': ({ params, auth, state }) => {
    const delivery = sendTest(state, webhookOf(state, auth, params.id));
    return { status: 201, body: { ...delivery } };
  },

  'webhooks.deliveries.list': ({ params, auth, state }) => {
    const { deliveries } = webhookOf(state, auth, params.id);
    return { body: { items: [...deliveries.values()].reverse().map(atAGlance) } };
  },

  'webhooks.deliveries.get': ({ params, auth, state }) => ({
    body: { ...deliveryOf(webhookOf(state, auth, params.id), params.deliveryId) },
  }),

  'webhooks.deliveries.retry': ({ params, auth, state }) => {
    const webhook = webhookOf(state, auth, params.id);
    const delivery = deliveryOf(webhook, params.deliveryId);
    sendAgain(state, webhook, delivery);
    return { body: { ...delivery } };
  },
};
