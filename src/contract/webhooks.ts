import * as z from 'zod/mini';
import { defineApi } from './endpoint.ts';
import { anyResponse, described, listOf, openBody, optional, pagedList, pageQuery, shown } from './fields.ts';

/** The API does not describe the fields of webhooks and deliveries. */
export const webhook = z.looseObject({}).register(shown, { id: 'Webhook' });
export const delivery = z.looseObject({}).register(shown, { id: 'Delivery' });

export const webhooks = defineApi(
  { auth: 'bearer', response: anyResponse },
  {
    'webhooks.eventTypes': {
      method: 'GET',
      path: '/api/webhooks/event-types',
      summary: 'List the types of events that webhooks can receive',
      list: true,
    },
    'webhooks.list': {
      method: 'GET',
      path: '/api/webhooks',
      summary: 'List webhooks, page by page',
      query: pageQuery({
        projectId: described(z.optional(z.string()), 'only webhooks of this project'),
        includeGlobal: described(z.optional(z.boolean()), 'include global webhooks', { default: true }),
      }),
      paged: true,
      ...pagedList(webhook),
    },
    'webhooks.create': {
      method: 'POST',
      path: '/api/webhooks',
      summary: 'Register a webhook',
      body: z.looseObject({
        projectId: described(optional(z.string()), 'project of the webhook (default: all projects)'),
      }),
    },
    'webhooks.delete': {
      method: 'DELETE',
      path: '/api/webhooks/{id}',
      summary: 'Delete a webhook',
      destructive: 'delete the webhook {id}',
    },
    'webhooks.rotateSecret': {
      method: 'POST',
      path: '/api/webhooks/{id}/secret/rotate',
      summary: "Replace a webhook's secret; the old one stops signing",
      body: openBody,
      bodyOptional: true,
      destructive: 'replace the secret of the webhook {id}',
    },
    'webhooks.test': {
      method: 'POST',
      path: '/api/webhooks/{id}/test',
      summary: 'Send a test delivery to a webhook',
      body: openBody,
      bodyOptional: true,
    },
    'webhooks.deliveries.list': {
      method: 'GET',
      path: '/api/webhooks/{id}/deliveries',
      summary: 'List the deliveries of a webhook',
      query: pageQuery({}),
      paged: true,
      ...listOf(delivery),
    },
    'webhooks.deliveries.get': {
      method: 'GET',
      path: '/api/webhooks/{id}/deliveries/{deliveryId}',
      summary: 'Show one delivery',
      response: delivery,
      anyBody: true,
    },
    'webhooks.deliveries.retry': {
      method: 'POST',
      path: '/api/webhooks/{id}/deliveries/{deliveryId}/retry',
      summary: 'Send a recorded delivery again',
      body: openBody,
      bodyOptional: true,
    },
  },
);
