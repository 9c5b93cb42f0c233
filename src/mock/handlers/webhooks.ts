import * as z from 'zod/mini';
import type { webhooks } from '../../contract/webhooks.ts';
import { eventTypes, type Webhook } from '../data/webhooks.ts';
import { checkBody, invalidBody, without } from '../fields.ts';
import type { HandlersOf } from '../handler.ts';
import { listed, pageOf } from '../paging.ts';
import { deliveryHandlers, webhookOf } from './deliveries.ts';

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
