import { type Delivery, type EventType, payloadOf, type Webhook } from './data/webhooks.ts';
import type { State } from './state.ts';

export function deliverTo(
  state: State,
  webhook: Webhook,
  eventType: EventType,
  data: Record<string, unknown>,
): Delivery {
  const id = state.nextId('dlv');
  const createdAt = new Date(state.clock.now()).toISOString();
  const delivery: Delivery = {
    id,
    webhookId: webhook.id,
    eventType,
    status: 'not_sent',
    responseStatus: null,
    attempts: 1,
    createdAt,
    lastAttemptAt: createdAt,
    payload: payloadOf(id, eventType, createdAt, data),
  };
  webhook.deliveries.set(id, delivery);
  state.deliver(webhook, delivery);
  return delivery;
}

/** Global webhooks, and those of the event's project. An event without a project goes to global webhooks only. */
export function announce(
  state: State,
  tenant: string,
  event: { type: EventType; projectId: string | null; data: Record<string, unknown> },
): void {
  for (const webhook of state.account(tenant).webhooks.values()) {
    const matches = webhook.projectId === null || webhook.projectId === event.projectId;
    if (matches && webhook.events.includes(event.type)) deliverTo(state, webhook, event.type, event.data);
  }
}
