import * as z from 'zod/mini';
import type { webhooks } from '../../contract/webhooks.ts';
import { eventTypes, type StoredDelivery, type StoredWebhook } from '../data/webhooks.ts';
import { requireFound } from '../response.ts';
import { deliverTo } from '../sender.ts';
import type { HandlersOf } from '../service.ts';
import type { State } from '../state.ts';
import { invalidBody, omit, requireBody } from '../validate.ts';
import { resource } from './resource.ts';

const webhook = resource({
  name: 'Webhook',
  items: ({ account }) => account.webhooks,
  // Without the secret, which only the responses to creating and rotating have.
  sent: ({ secret: _secret, deliveries: _deliveries, others, ...rest }: StoredWebhook) => ({
    ...others,
    ...rest,
  }),
});

const delivery = resource({
  name: 'Delivery',
  param: 'deliveryId',
  items: (request) => webhook.find(request).deliveries,
  sent: (one: StoredDelivery) => ({ ...one }),
});

/** Sends a test delivery to a webhook, whatever events it is registered for. */
export function sendTest(state: State, webhook: StoredWebhook): StoredDelivery {
  return deliverTo(state, webhook, 'webhook.test', { webhookId: webhook.id });
}

export function sendAgain(state: State, webhook: StoredWebhook, id: string): StoredDelivery {
  const delivery = requireFound(webhook.deliveries.get(id), 'Delivery', id);
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

export const webhooksHandlers: HandlersOf<typeof webhooks> = {
  'webhooks.eventTypes': () => ({ body: eventTypes }),

  'webhooks.list': (request) => {
    const { projectId, includeGlobal = true } = request.query;
    const wanted = [...request.account.webhooks.values()].filter((one) =>
      one.projectId === null ? includeGlobal : projectId === undefined || one.projectId === projectId,
    );
    return webhook.page(request, wanted);
  },

  'webhooks.create': (request) => {
    const { body, account, state, now } = request;
    const { url, events } = requireBody(newWebhook, body);
    const projectId = body.projectId ?? null;
    if (projectId !== null && !account.projects.has(projectId)) {
      throw invalidBody(`body.projectId: no project has the id ${JSON.stringify(projectId)}`);
    }
    const secret = state.nextSecret('whsec', 32);
    const created = webhook.create(request, {
      id: state.nextId('wh'),
      url,
      projectId,
      events: [...new Set(events ?? eventNames)],
      createdAt: now,
      secretRotatedAt: null,
      secret,
      deliveries: new Map(),
      others: omit(body, readOnlyFields),
    });
    return { ...created, body: { ...created.body, secret } };
  },

  'webhooks.delete': webhook.delete,

  'webhooks.rotateSecret': (request) => {
    const secret = request.state.nextSecret('whsec', 32);
    const changed = { ...webhook.find(request), secret, secretRotatedAt: request.now };
    return { body: { ...webhook.update(request, changed).body, secret } };
  },

  'webhooks.test': (request) => ({
    status: 201,
    body: { ...sendTest(request.state, webhook.find(request)) },
  }),

  'webhooks.deliveries.list': (request) => {
    const newestFirst = [...webhook.find(request).deliveries.values()].reverse();
    const { body } = delivery.list(request, newestFirst, (items) => ({ items }));
    // The payload is only in the response for one delivery.
    return { body: { ...body, items: body.items.map(({ payload: _payload, ...rest }) => rest) } };
  },

  'webhooks.deliveries.get': delivery.get,

  'webhooks.deliveries.retry': (request) => ({
    body: { ...sendAgain(request.state, webhook.find(request), request.params.deliveryId) },
  }),
};
