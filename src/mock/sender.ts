import { setMaxListeners } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { defaultHeaderNames, signSync } from '../webhook/node.ts';
import type { StoredDelivery, StoredWebhook } from './data/webhooks.ts';
import { type Faults, playFault } from './faults/faults.ts';
import type { DeliveryWire } from './faults/wire.ts';
import { announceEnd } from './handlers/run.ts';
import { isLoopbackName } from './listen.ts';
import type { DeliveryScope } from './options.ts';
import type { State } from './state.ts';

interface DeliverySender {
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

function record(delivery: StoredDelivery, status: number | null): void {
  delivery.responseStatus = status;
  delivery.status = status !== null && status >= 200 && status < 300 ? 'delivered' : 'failed';
}

/**
 * Lets a state send its deliveries, signed with the webhook's current secret, or the tenant's if one is set, and announce the
 * ends of its runs in time. Retries only on request.
 */
export function startSender(
  state: State,
  faults: Faults,
  scope: DeliveryScope = 'off',
  tenantSecret?: string,
): DeliverySender {
  const { clock } = state;
  const stop = new AbortController();
  // Every delivery in flight and every run in progress has a listener; many of them are not a leak.
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
      holdStatus(ms) {
        const { runId } = delivery.payload.data as { runId?: unknown };
        const run = state.runs.get(String(runId));
        if (run !== undefined) run.statusHeldUntil = clock.monotonic() + ms;
      },
    };
  }

  state.deliver = (webhook, delivery) => {
    const url = new URL(webhook.url);
    if (stop.signal.aborted || scope === 'off' || (scope === 'loopback' && !isLoopbackName(url.hostname))) {
      delivery.status = 'not_sent';
      return;
    }
    delivery.status = 'pending';
    const overtaken = waiting.get(webhook.id);
    const wire = wireOf(webhook, delivery, url);
    const fault = faults.takeDelivery(delivery.eventType);
    const sending = (fault === undefined ? wire.send() : playFault(fault, wire))
      .catch(() => record(delivery, null))
      .finally(() => {
        overtaken?.abort();
        inFlight.delete(sending);
      });
    inFlight.add(sending);
  };

  state.watchRun = (run) => {
    // Without deliveries no timer is needed: the next status read announces the end of the run.
    if (scope === 'off' || run.outcome === 'stuck') return;
    clock.sleep(run.durationMs, stop.signal).then(
      () => announceEnd(state, run),
      () => {},
    );
  };

  return {
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    close: () => stop.abort(),
  };
}
