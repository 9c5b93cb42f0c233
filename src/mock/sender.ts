import { setMaxListeners } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../clock.ts';
import { defaultHeaderNames, signSync } from '../webhook/node.ts';
import { type EventType, payloadOf, type StoredDelivery, type StoredWebhook } from './data/webhooks.ts';
import { type Faults, playFault } from './faults/faults.ts';
import type { DeliveryWire } from './faults/wire.ts';
import { isLoopbackName } from './listen.ts';
import type { Deliver, State } from './state.ts';

export function deliverTo(
  state: State,
  webhook: StoredWebhook,
  eventType: EventType,
  data: Record<string, unknown>,
): StoredDelivery {
  const id = state.nextId('dlv');
  const createdAt = new Date(state.clock.now()).toISOString();
  const delivery: StoredDelivery = {
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

/** Global webhooks, and those of the event's project. An event without a project goes to global webhooks only. */
export function announceEvent(
  state: State,
  event: { type: EventType; projectId: string | null; data: Record<string, unknown> },
): void {
  for (const webhook of state.account.webhooks.values()) {
    const matches = webhook.projectId === null || webhook.projectId === event.projectId;
    if (matches && webhook.events.includes(event.type)) deliverTo(state, webhook, event.type, event.data);
  }
}

export const deliveryScopes = ['off', 'loopback', 'any'] as const;
/** The addresses that webhook deliveries are sent to: none (they are only recorded), this machine's, or any. */
export type DeliveryScope = (typeof deliveryScopes)[number];

export interface DeliverySender {
  readonly deliver: Deliver;
  /** Resolves when no delivery is in flight. */
  idle(): Promise<void>;
  /** Aborts deliveries in flight. */
  close(): void;
}

interface SenderParts {
  readonly scope: DeliveryScope;
  readonly clock: Clock;
  /** Signs deliveries instead of the webhook's current secret. */
  readonly tenantSecret: string | undefined;
  readonly faults: Faults;
  /** Keeps the status of the run that a delivery is about at `in_progress`. */
  holdStatus(delivery: StoredDelivery, ms: number): void;
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

function record(delivery: StoredDelivery, status: number | null): void {
  delivery.responseStatus = status;
  delivery.status = status !== null && status >= 200 && status < 300 ? 'delivered' : 'failed';
}

/** Signs with the webhook's current secret, or the tenant's if one is set. Retries only on request. */
export function createSender({
  scope,
  clock,
  tenantSecret,
  faults,
  holdStatus,
}: SenderParts): DeliverySender {
  const stop = new AbortController();
  // Every delivery in flight has a listener; many of them are not a leak.
  setMaxListeners(0, stop.signal);
  const inFlight = new Set<Promise<void>>();
  /** By webhook: ends the wait of a delivery that the next one overtakes. */
  const waiting = new Map<string, AbortController>();

  function wireOf(webhook: StoredWebhook, delivery: StoredDelivery, url: URL): DeliveryWire {
    const body = JSON.stringify(delivery.payload);
    const timestamp = new Date(clock.now()).toISOString();
    const sendSigned = async (secret: string) => {
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': 'rungate-mock',
        [defaultHeaderNames.timestamp]: timestamp,
        [defaultHeaderNames.signature]: signSync({ body, timestamp, secret }).signature,
      };
      record(delivery, await post(url, headers, body, stop.signal));
    };
    // The service signs a delivery once, before any fault delays or repeats it.
    const secret = tenantSecret ?? webhook.secret;
    return {
      send: () => sendSigned(secret),
      sendForged: () => sendSigned(`not ${secret}`),
      lose: () => record(delivery, null),
      sleep: (ms) => clock.sleep(ms, stop.signal),
      async overtaken(ms) {
        if (waiting.has(webhook.id)) return;
        const next = new AbortController();
        waiting.set(webhook.id, next);
        await clock.sleep(ms, AbortSignal.any([stop.signal, next.signal])).catch(() => {});
        waiting.delete(webhook.id);
      },
      holdStatus: (ms) => holdStatus(delivery, ms),
    };
  }

  async function send(delivery: StoredDelivery, wire: DeliveryWire): Promise<void> {
    const fault = faults.takeDelivery(delivery.eventType);
    if (fault === undefined) return wire.send();
    await playFault(fault, wire);
  }

  return {
    deliver(webhook, delivery) {
      const url = new URL(webhook.url);
      if (stop.signal.aborted || scope === 'off' || (scope === 'loopback' && !isLoopbackName(url.hostname))) {
        delivery.status = 'not_sent';
        return;
      }
      delivery.status = 'pending';
      const overtaken = waiting.get(webhook.id);
      const sending = send(delivery, wireOf(webhook, delivery, url))
        .catch(() => record(delivery, null))
        .finally(() => {
          overtaken?.abort();
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
