import * as z from 'zod/mini';
import type { webhooks } from '../../contract/webhooks.ts';
import { eventTypes, type StoredDelivery, type StoredWebhook } from '../data/webhooks.ts';
import { deliverTo } from '../events.ts';
import type { HandlersOf } from '../service.ts';
import { invalidBody, requireBody } from '../validate.ts';
import { resource } from './resource.ts';

const webhook = resource({
  name: 'Webhook',
  prefix: 'wh',
  items: ({ account }) => account.webhooks,
  // Without the secret, which only the responses to creating and rotating have.
  sent: ({ secret: _secret, deliveries: _deliveries, ...rest }: StoredWebhook) => rest,
});

const delivery = resource({
  name: 'Delivery',
  prefix: 'dlv',
  param: 'deliveryId',
  items: (request) => webhook.find(request).deliveries,
  sent: (one: StoredDelivery) => ({ ...one }),
});

const eventNames = eventTypes.map(({ type }) => type);

const eventName = z.enum(eventNames, `expected one of ${eventNames.join(', ')}`);

const newWebhook = z.looseObject({
  url: z.url({ protocol: /^https?$/ }),
  events: z.nullish(z.array(eventName).check(z.minLength(1))),
});

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
    const { body, account, state } = request;
    const { url, events } = requireBody(newWebhook, body);
    const projectId = body.projectId ?? null;
    if (projectId !== null && !account.projects.has(projectId)) {
      throw invalidBody(`body.projectId: no project has the id ${JSON.stringify(projectId)}`);
    }
    const secret = state.nextSecret('whsec', 32);
    const created = webhook.create(request, {
      ...body,
      url,
      projectId,
      events: [...new Set(events ?? eventNames)],
      createdAt: request.now,
      secretRotatedAt: null,
      secret,
      deliveries: new Map(),
    });
    return { ...created, body: { ...created.body, secret } };
  },

  'webhooks.delete': webhook.delete,

  'webhooks.rotateSecret': (request) => {
    const secret = request.state.nextSecret('whsec', 32);
    const { body } = webhook.update(request, { secret, secretRotatedAt: request.now });
    return { body: { ...body, secret } };
  },

  // A webhook gets a test whatever events it is registered for.
  'webhooks.test': (request) => {
    const one = webhook.find(request);
    return { status: 201, body: { ...deliverTo(request.state, one, 'webhook.test', { webhookId: one.id }) } };
  },

  'webhooks.deliveries.list': (request) => {
    const newestFirst = [...webhook.find(request).deliveries.values()].reverse();
    const { body } = delivery.list(request, newestFirst, (items) => ({ items }));
    // The payload is only in the response for one delivery.
    return { body: { ...body, items: body.items.map(({ payload: _payload, ...rest }) => rest) } };
  },

  'webhooks.deliveries.get': delivery.get,

  'webhooks.deliveries.retry': (request) => {
    const one = delivery.find(request);
    one.attempts += 1;
    one.lastAttemptAt = request.now;
    one.responseStatus = null;
    request.state.deliver(webhook.find(request), one);
    return { body: { ...one } };
  },
};
