import * as z from 'zod/mini';
import type { webhooks } from '../../contract/webhooks.ts';
import type { Account } from '../data/account.ts';
import { eventTypes, type StoredDelivery, type StoredWebhook } from '../data/webhooks.ts';
import { listed, pageIfRequested, requireFound, servedPage } from '../response.ts';
import { deliverTo } from '../sender.ts';
import type { HandlersOf } from '../service.ts';
import type { State } from '../state.ts';
import { invalidBody, omit, requireBody } from '../validate.ts';

function webhookOf({ webhooks }: Account, id: string): StoredWebhook {
  return requireFound(webhooks.get(id), 'Webhook', id);
}

function deliveryTo(webhook: StoredWebhook, id: string): StoredDelivery {
  return requireFound(webhook.deliveries.get(id), 'Delivery', id);
}

function withoutPayload({ payload: _payload, ...delivery }: StoredDelivery) {
  return delivery;
}

/** Sends a test delivery to a webhook, whatever events it is registered for. */
export function sendTest(state: State, webhook: StoredWebhook): StoredDelivery {
  return deliverTo(state, webhook, 'webhook.test', { webhookId: webhook.id });
}

export function sendAgain(state: State, webhook: StoredWebhook, id: string): StoredDelivery {
  const delivery = deliveryTo(webhook, id);
  delivery.attempts += 1;
  delivery.lastAttemptAt = new Date(state.clock.now()).toISOString();
  delivery.responseStatus = null;
  state.deliver(webhook, delivery);
  return delivery;
}

const eventNames: readonly string[] = eventTypes.map(({ type }) => type);

const eventName = z
  .string()
  .check(
    z.refine((value) => eventNames.includes(value), { error: `expected one of ${eventNames.join(', ')}` }),
  );

const newWebhook = z.looseObject({
  url: z.url({ protocol: /^https?$/ }),
  events: z.nullish(z.array(eventName).check(z.minLength(1))),
});

/** Fields that a body cannot set. */
const readOnlyFields = 'id url projectId events createdAt secretRotatedAt secret deliveries'.split(' ');

/** Returns a webhook as sent: without the secret, which only the responses to creating and rotating have. */
function sentWebhook({ secret: _secret, deliveries: _deliveries, others, ...webhook }: StoredWebhook) {
  return { ...others, ...webhook };
}

export const webhooksHandlers: HandlersOf<typeof webhooks> = {
  'webhooks.eventTypes': () => ({ body: eventTypes }),

  'webhooks.list': ({ query, account }) => {
    const { projectId, includeGlobal = true } = query;
    const all = [...account.webhooks.values()].filter((webhook) =>
      webhook.projectId === null ? includeGlobal : projectId === undefined || webhook.projectId === projectId,
    );
    return { body: servedPage(listed(all), query, sentWebhook) };
  },

  'webhooks.create': ({ body, account, state, now }) => {
    const { url, events } = requireBody(newWebhook, body);
    const projectId = body.projectId ?? null;
    if (projectId !== null && !account.projects.has(projectId)) {
      throw invalidBody(`body.projectId: no project has the id ${JSON.stringify(projectId)}`);
    }
    const webhook: StoredWebhook = {
      id: state.nextId('wh'),
      url,
      projectId,
      events: [...new Set(events ?? eventNames)],
      createdAt: now,
      secretRotatedAt: null,
      secret: state.nextSecret('whsec', 32),
      deliveries: new Map(),
      others: omit(body, readOnlyFields),
    };
    account.webhooks.set(webhook.id, webhook);
    return { status: 201, body: { ...sentWebhook(webhook), secret: webhook.secret } };
  },

  'webhooks.delete': ({ params, account }) => {
    account.webhooks.delete(webhookOf(account, params.id).id);
    return {};
  },

  'webhooks.rotateSecret': ({ params, account, state, now }) => {
    const webhook = webhookOf(account, params.id);
    webhook.secret = state.nextSecret('whsec', 32);
    webhook.secretRotatedAt = now;
    return { body: { ...sentWebhook(webhook), secret: webhook.secret } };
  },

  'webhooks.test': ({ params, account, state }) => ({
    status: 201,
    body: { ...sendTest(state, webhookOf(account, params.id)) },
  }),

  'webhooks.deliveries.list': ({ params, query, account }) => {
    const newestFirst = [...webhookOf(account, params.id).deliveries.values()].reverse();
    return { body: pageIfRequested(newestFirst, query, withoutPayload, (items) => ({ items })) };
  },

  'webhooks.deliveries.get': ({ params, account }) => ({
    body: { ...deliveryTo(webhookOf(account, params.id), params.deliveryId) },
  }),

  'webhooks.deliveries.retry': ({ params, account, state }) => ({
    body: { ...sendAgain(state, webhookOf(account, params.id), params.deliveryId) },
  }),
};
