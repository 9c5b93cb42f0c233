import * as z from 'zod/mini';
import { defineApi } from './endpoint.ts';
import { anyReply, listOf, openBody, paged, pageQuery, shown } from './fields.ts';

/** Interface, section 2.12: no field of a webhook or of a delivery is shown. */
export const webhook = z.looseObject({}).register(shown, { id: 'Webhook' });
export const delivery = z.looseObject({}).register(shown, { id: 'Delivery' });

export const webhooks = defineApi({
  'webhooks.eventTypes': {
    method: 'GET',
    path: '/api/webhooks/event-types',
    auth: 'bearer',
    summary: 'List the types of events that webhooks can receive',
    section: '4.6',
    reply: anyReply,
  },
  'webhooks.list': {
    method: 'GET',
    path: '/api/webhooks',
    auth: 'bearer',
    summary: 'List webhooks, page by page',
    section: '4.6',
    query: pageQuery({ projectId: z.optional(z.string()), includeGlobal: z.optional(z.boolean()) }),
    paged: true,
    reply: paged(webhook),
  },
  'webhooks.create': {
    method: 'POST',
    path: '/api/webhooks',
    auth: 'bearer',
    summary: 'Register a webhook',
    section: '4.6',
    body: z.looseObject({ projectId: z.optional(z.string()) }),
    reply: anyReply,
  },
  'webhooks.delete': {
    method: 'DELETE',
    path: '/api/webhooks/{id}',
    auth: 'bearer',
    summary: 'Delete a webhook',
    section: '4.6',
    destructive: true,
    reply: anyReply,
  },
  'webhooks.rotateSecret': {
    method: 'POST',
    path: '/api/webhooks/{id}/secret/rotate',
    auth: 'bearer',
    summary: "Replace a webhook's secret; the old one stops signing",
    section: '4.6',
    body: openBody,
    bodyOptional: true,
    destructive: true,
    reply: anyReply,
  },
  'webhooks.test': {
    method: 'POST',
    path: '/api/webhooks/{id}/test',
    auth: 'bearer',
    summary: 'Send a test delivery to a webhook',
    section: '4.6',
    body: openBody,
    bodyOptional: true,
    reply: anyReply,
  },
  'webhooks.deliveries.list': {
    method: 'GET',
    path: '/api/webhooks/{id}/deliveries',
    auth: 'bearer',
    summary: 'List the deliveries of a webhook',
    section: '4.6',
    reply: listOf(delivery),
  },
  'webhooks.deliveries.get': {
    method: 'GET',
    path: '/api/webhooks/{id}/deliveries/{deliveryId}',
    auth: 'bearer',
    summary: 'Show one delivery',
    section: '4.6',
    reply: delivery,
  },
  'webhooks.deliveries.retry': {
    method: 'POST',
    path: '/api/webhooks/{id}/deliveries/{deliveryId}/retry',
    auth: 'bearer',
    summary: 'Send a recorded delivery again',
    section: '4.6',
    body: openBody,
    bodyOptional: true,
    reply: anyReply,
  },
});
