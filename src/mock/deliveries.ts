import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../clock.ts';
import { defaultHeaderNames, signSync } from '../webhook/node.ts';
import { type Delivery, type EventType, payloadOf, type Webhook } from './data/webhooks.ts';
import { isLoopbackName } from './listen.ts';
import type { Deliver, State } from './state.ts';

/** Records a delivery of an event to a webhook, and passes it to the state's sender. */
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
 * Delivers an event to every webhook of the tenant that is registered for it: global webhooks, and those of the
 * event's project. An event without a project goes to global webhooks only.
 */
export function announce(
  state: State,
  tenant: string,
  event: { type: EventType; projectId: string | null; data: Record<string, unknown> },
): void {
  for (const webhook of state.account(tenant).webhooks.values()) {
    const matches = webhook.projectId === null || webhook.projectId === event.projectId;
    if (matches && webhook.events.includes(event.type)) deliverTo(state, webhook, event.type, event.data);
  }
}

/** The addresses that deliveries are sent to: none, this machine's, or any. */
export const deliveryScopes = ['off', 'loopback', 'any'] as const;
/** The addresses that webhook deliveries are sent to: none (they are only recorded), this machine's, or any. */
export type DeliveryScope = (typeof deliveryScopes)[number];

export interface Sender {
  readonly deliver: Deliver;
  /** Resolves when no delivery is in flight. */
  idle(): Promise<void>;
  /** Aborts deliveries in flight. */
  close(): void;
}

/** The time that a receiver has to respond, in milliseconds. */
const responseTimeoutMs = 10_000;

/** Returns the receiver's status code, or null without a response. Redirects are not followed. */
function post(
  url: URL,
  headers: Record<string, string>,
  body: string,
  stop: AbortSignal,
): Promise<number | null> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(responseTimeoutMs)]);
  return new Promise((resolve) => {
    const outgoing = send(url, { method: 'POST', headers, signal, agent: false }, (response) => {
      response.resume();
      response.once('error', () => resolve(null));
      response.once('end', () => resolve(response.statusCode ?? null));
    });
    outgoing.once('error', () => resolve(null));
    outgoing.end(body);
  });
}

/**
 * Sends deliveries as the service does: signed with the webhook's current secret, or with the tenant's if one is set
 * (interface, section 6). It retries a delivery only on request.
 */
export function createSender(scope: DeliveryScope, clock: Clock, tenantSecret: string | undefined): Sender {
  const stop = new AbortController();
  const inFlight = new Set<Promise<void>>();
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
        inFlight.delete(sending);
      });
      inFlight.add(sending);
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    close: () => stop.abort(),
  };
}
