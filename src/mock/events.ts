import { type EventType, payloadOf, type StoredDelivery, type StoredWebhook } from './data/webhooks.ts';
import type { State } from './state.ts';

/** Records a delivery, and sends it if the mock sends deliveries. */
export function deliverTo(
  state: State,
  webhook: StoredWebhook,
  eventType: EventType,
  data: Record<string, unknown>,
): StoredDelivery {
  const id = state.nextId('dlv');
  const createdAt = new Date(state.clock.now()).toISOString();
  const delivery: StoredDelivery = {
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
export function announceEvent(
  state: State,
  type: EventType,
  projectId: string | null,
  data: Record<string, unknown>,
): void {
  for (const webhook of state.account.webhooks.values()) {
    const matches = webhook.projectId === null || webhook.projectId === projectId;
    if (matches && webhook.events.includes(type)) deliverTo(state, webhook, type, data);
  }
}
