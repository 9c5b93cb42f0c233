import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../clock.ts';
import { defaultHeaderNames, signSync } from '../webhook/node.ts';
import { type Delivery, type EventType, payloadOf, type Webhook } from './data/webhooks.ts';
import { isLoopbackName } from './listen.ts';
import type { Deliver, State } from './state.ts';

/** Records a delivery of an event to a webhook, and hands it to whoever sends. */
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

/**
 * Tells every webhook of the tenant that is registered for the event: the global ones, and those of the project. An
 * event of no project goes to the global ones alone.
 */
export function announce(
  state: State,
  tenant: string,
  event: { type: EventType; projectId: string | null; data: Record<string, unknown> },
): void {
  for (const webhook of state.account(tenant).webhooks.values()) {
    const concerned = webhook.projectId === null || webhook.projectId === event.projectId;
    if (concerned && webhook.events.includes(event.type)) deliverTo(state, webhook, event.type, event.data);
  }
}

/** Where deliveries may go: nowhere, to this machine only, or to any address that a webhook names. */
export const deliveryScopes = ['off', 'loopback', 'any'] as const;
/** Where webhook deliveries are sent: nowhere (they are recorded only), to this machine only, or to any address. */
export type DeliveryScope = (typeof deliveryScopes)[number];

export interface Sender {
  readonly deliver: Deliver;
  /** Resolves once no delivery is under way. */
  idle(): Promise<void>;
  /** Breaks off what is under way. */
  close(): void;
}

/** How long a receiver may take to answer, in milliseconds. */
const answerMs = 10_000;

/** The status a receiver answers with, or null when there was no answer. Redirects are answers like any other. */
function post(
  url: URL,
  headers: Record<string, string>,
  body: string,
  stop: AbortSignal,
): Promise<number | null> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(answerMs)]);
  return new Promise((resolve) => {
    const outgoing = send(url, { method: 'POST', headers, signal, agent: false }, (reply) => {
      reply.resume();
      reply.once('error', () => resolve(null));
      reply.once('end', () => resolve(reply.statusCode ?? null));
    });
    outgoing.once('error', () => resolve(null));
    outgoing.end(body);
  });
}

/**
 * Sends deliveries as the service does: signed with the webhook's secret of that moment, or with the tenant's where
 * one is set (interface, section 6). There is no retry but the one that is asked for.
 */
export function createSender(scope: DeliveryScope, clock: Clock, tenantSecret: string | undefined): Sender {
  const stop = new AbortController();
  const underWay = new Set<Promise<void>>();
  return {
    deliver(webhook, delivery) {
      const url = new URL(webhook.url);
      if (stop.signal.aborted || scope === 'off' || (scope === 'loopback' && !isLoopbackName(url.hostname))) {
        delivery.status = 'not_sent';
        return;
      }
      delivery.status = 'pending';
      const body = JSON.stringify(delivery.payload);
      const timestamp = new Date(clock.now()).toISOString();
      const { signature } = signSync({ body, timestamp, secret: tenantSecret ?? webhook.secret });
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': 'rungate-mock',
        [defaultHeaderNames.timestamp]: timestamp,
        [defaultHeaderNames.signature]: signature,
      };
      const sending = post(url, headers, body, stop.signal).then((status) => {
        delivery.responseStatus = status;
        delivery.status = status !== null && status >= 200 && status < 300 ? 'delivered' : 'failed';
        underWay.delete(sending);
      });
      underWay.add(sending);
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    close: () => stop.abort(),
  };
}
