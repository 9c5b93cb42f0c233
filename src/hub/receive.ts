import type { IncomingMessage } from 'node:http';
import type { HeaderNames } from '../webhook/headers.ts';
import { receiveIncoming } from '../webhook/receivers/incoming.ts';
import { createReplayGuard, type ReplayStore } from '../webhook/replay.ts';

/** The secrets that a delivery may be signed with, as for `webhooks verify`. */
export interface DeliverySecrets {
  secrets: readonly string[];
  tenantSecret: string | undefined;
  headerNames: HeaderNames;
}

/** A delivery that is authentic. */
export interface Received {
  json: string;
  replay: boolean;
  ageSeconds: number;
}

/** Longer than Redis may take, so that a hub's own store has its turn after it. */
const storeMs = 5_000;

/** Returns a function that verifies a delivery. Nothing is stored before its signature is right. */
export function deliveryReceiver(
  { secrets, tenantSecret, headerNames }: DeliverySecrets,
  store: ReplayStore,
): (request: IncomingMessage) => Promise<Received> {
  const guard = createReplayGuard({ store, prefix: 'rungate:hub:delivery:', timeoutMs: storeMs });
  const signed = tenantSecret === undefined ? { secrets: [...secrets] } : { tenantSecret };
  return async (request) => {
    const options = { ...signed, headerNames };
    const delivery = await receiveIncoming(request, options, 'the hub reads the body itself');
    const { verified, signature } = delivery;
    const replay = (await guard.check(verified, signature)) === 'replay';
    // Throws if the body is not JSON.
    delivery.json();
    return { json: delivery.text(), replay, ageSeconds: verified.ageSeconds };
  };
}
