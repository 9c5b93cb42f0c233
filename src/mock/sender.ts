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
import type { Run } from './runs.ts';
import type { State } from './state.ts';

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

/** Sends the deliveries of a state, signed with the webhook's current secret, or the tenant's if one is set. Retries only on request. */
export class Sender {
  readonly #state: State;
  readonly #faults: Faults;
  readonly #scope: DeliveryScope;
  readonly #tenantSecret: string | undefined;
  readonly #stop = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  /** By webhook: ends the wait of a delivery that the next one overtakes. */
  readonly #waiting = new Map<string, AbortController>();

  constructor(state: State, faults: Faults, scope: DeliveryScope = 'off', tenantSecret?: string) {
    this.#state = state;
    this.#faults = faults;
    this.#scope = scope;
    this.#tenantSecret = tenantSecret;
    // Every delivery in flight and every run in progress has a listener; many of them are not a leak.
    setMaxListeners(0, this.#stop.signal);
    state.deliver = (webhook, delivery) => this.#deliver(webhook, delivery);
    state.watchRun = (run) => this.#announceInTime(run);
  }

  /** Resolves when no delivery is in flight. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  /** Aborts deliveries in flight. */
  close(): void {
    this.#stop.abort();
  }

  #deliver(webhook: StoredWebhook, delivery: StoredDelivery): void {
    const url = new URL(webhook.url);
    const scope = this.#stop.signal.aborted ? 'off' : this.#scope;
    if (scope === 'off' || (scope === 'loopback' && !isLoopbackName(url.hostname))) {
      delivery.status = 'not_sent';
      return;
    }
    delivery.status = 'pending';
    const overtaken = this.#waiting.get(webhook.id);
    const wire = this.#wireOf(webhook, delivery, url);
    const fault = this.#faults.takeDelivery(delivery.eventType);
    const sending = (fault === undefined ? wire.send() : playFault(fault, wire))
      .catch(() => record(delivery, null))
      .finally(() => {
        overtaken?.abort();
        this.#inFlight.delete(sending);
      });
    this.#inFlight.add(sending);
  }

  #announceInTime(run: Run): void {
    // Without deliveries no timer is needed: the next status read announces the end of the run.
    if (this.#scope === 'off' || run.outcome === 'stuck') return;
    this.#state.clock.sleep(run.durationMs, this.#stop.signal).then(
      () => announceEnd(this.#state, run),
      () => {},
    );
  }

  #wireOf(webhook: StoredWebhook, delivery: StoredDelivery, url: URL): DeliveryWire {
    const { clock, runs } = this.#state;
    const { signal } = this.#stop;
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
      record(delivery, await post(url, headers, body, signal));
    };
    // The service signs a delivery once, before any fault delays or repeats it.
    const secret = this.#tenantSecret ?? webhook.secret;
    return {
      send: () => sendSigned(secret),
      sendForged: () => sendSigned(`not ${secret}`),
      lose: () => record(delivery, null),
      sleep: (ms) => clock.sleep(ms, signal),
      overtaken: async (ms) => {
        if (this.#waiting.has(webhook.id)) return;
        const next = new AbortController();
        this.#waiting.set(webhook.id, next);
        await clock.sleep(ms, AbortSignal.any([signal, next.signal])).catch(() => {});
        this.#waiting.delete(webhook.id);
      },
      holdStatus(ms) {
        const { runId } = delivery.payload.data as { runId?: unknown };
        const run = runs.get(String(runId));
        if (run !== undefined) run.statusHeldUntil = clock.monotonic() + ms;
      },
    };
  }
}
