import * as z from 'zod/mini';
import { defineApi, get, post, remove } from './endpoint.ts';
import { anyOrNoBody, anyResponse, described, listOf, optional, paged, pagedList, shown } from './fields.ts';

/** The API does not describe the fields of webhooks and deliveries. */
export const webhook = z.looseObject({}).register(shown, { id: 'Webhook' });
export const delivery = z.looseObject({}).register(shown, { id: 'Delivery' });

export const webhooks = defineApi(
  { auth: 'bearer', response: anyResponse },
  {
    'webhooks.eventTypes': get(
      '/api/webhooks/event-types',
      'List the types of events that webhooks can receive',
      { list: true },
    ),
    'webhooks.list': get('/api/webhooks', 'List webhooks, page by page', {
      ...paged({
        projectId: described(z.optional(z.string()), 'only webhooks of this project'),
        includeGlobal: described(z.optional(z.boolean()), 'include global webhooks', { default: true }),
      }),
      ...pagedList(webhook),
    }),
    'webhooks.create': post('/api/webhooks', 'Register a webhook', {
      body: z
        .looseObject({
          projectId: described(optional(z.string()), 'project of the webhook (default: all projects)'),
        })
        .register(shown, { id: 'WebhookFields' }),
    }),
    'webhooks.delete': remove('/api/webhooks/{id}', 'Delete a webhook', {
      destructive: 'delete the webhook {id}',
    }),
    'webhooks.rotateSecret': post(
      '/api/webhooks/{id}/secret/rotate',
      "Replace a webhook's secret; the old one stops signing",
      { ...anyOrNoBody, destructive: 'replace the secret of the webhook {id}' },
    ),
    'webhooks.test': post('/api/webhooks/{id}/test', 'Send a test delivery to a webhook', anyOrNoBody),
    'webhooks.deliveries.list': get('/api/webhooks/{id}/deliveries', 'List the deliveries of a webhook', {
      ...paged({}),
      ...listOf(delivery),
    }),
    'webhooks.deliveries.get': get('/api/webhooks/{id}/deliveries/{deliveryId}', 'Show one delivery', {
      response: delivery,
      anyBody: true,
    }),
    'webhooks.deliveries.retry': post(
      '/api/webhooks/{id}/deliveries/{deliveryId}/retry',
      'Send a recorded delivery again',
      anyOrNoBody,
    ),
  },
);
