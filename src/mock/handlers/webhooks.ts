import * as z from 'zod/mini';
import type { webhooks } from '../../contract/webhooks.ts';
import { type Delivery, eventTypes, type Webhook } from '../data/webhooks.ts';
import { deliverTo } from '../deliveries.ts';
import type { HandlersOf } from '../handler.ts';
import { listed, pageOf } from '../paging.ts';
import { known } from '../reply.ts';
import type { Credential, State } from '../state.ts';
import { checkBody, invalidBody, without } from '../validate.ts';

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

const eventNames: readonly string[] = eventTypes.map(({ type }) => type);

const eventName = z
  .string()
  .check(
    z.refine((value) => eventNames.includes(value), { error: `expected one of ${eventNames.join(', ')}` }),
  );

const newWebhook = z.looseObject({
  url: z.url({ protocol: /^https?$/ }),
  events: z.optional(z.array(eventName).check(z.minLength(1))),
});

/** Fields that a body has no say in, or that are taken out of it by name. */
const ownFields = [
  'id',
  'url',
  'projectId',
  'events',
  'createdAt',
  'secretRotatedAt',
  'secret',
  'deliveries',
];

/** As it is sent: without the secret, which only the replies that made it show. */
function sent({ secret: _secret, deliveries: _deliveries, others, ...webhook }: Webhook) {
  return { ...others, ...webhook };
}

export const webhooksHandlers: HandlersOf<typeof webhooks> = {
  'webhooks.eventTypes': () => ({ body: eventTypes }),

  'webhooks.list': ({ query, auth, state }) => {
    const { projectId, includeGlobal = true } = query;
    const all = [...state.account(auth.tenant).webhooks.values()].filter((webhook) =>
      webhook.projectId === null ? includeGlobal : projectId === undefined || webhook.projectId === projectId,
    );
    return { body: pageOf(listed(all), query, sent) };
  },

  'webhooks.create': ({ body, auth, state, clock }) => {
    const account = state.account(auth.tenant);
    const { url, events = eventNames } = checkBody(newWebhook, body);
    const { projectId = null } = body;
    if (projectId !== null && !account.projects.has(projectId)) {
      throw invalidBody(`body.projectId: there is no project ${JSON.stringify(projectId)}`);
    }
    const webhook: Webhook = {
      id: state.nextId('wh'),
      url,
      projectId,
      events: [...new Set(events)],
      createdAt: new Date(clock.now()).toISOString(),
      secretRotatedAt: null,
      secret: state.nextSecret('whsec', 32),
      deliveries: new Map(),
      others: without(body, ownFields),
    };
    account.webhooks.set(webhook.id, webhook);
    return { status: 201, body: { ...sent(webhook), secret: webhook.secret } };
  },

  'webhooks.delete': ({ params, auth, state }) => {
    const { id } = webhookOf(state, auth, params.id);
    state.account(auth.tenant).webhooks.delete(id);
    return {};
  },

  'webhooks.rotateSecret': ({ params, auth, state, clock }) => {
    const webhook = webhookOf(state, auth, params.id);
    webhook.secret = state.nextSecret('whsec', 32);
    webhook.secretRotatedAt = new Date(clock.now()).toISOString();
    return { body: { ...sent(webhook), secret: webhook.secret } };
  },

  ...deliveryHandlers,
};
