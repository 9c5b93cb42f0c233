import type { IncomingMessage, ServerResponse } from 'node:http';
import { statusOf } from '../webhook/receivers/public.ts';
import type { ReceivedDelivery } from './deliveries.ts';
import { sendJson } from './http.ts';
import type { Hub } from './hub.ts';
import type { HubLogEvent } from './log-events.ts';

/** Deliveries that arrive at the same time, since anyone may send one, of up to 1 MiB. */
const mostDeliveries = 64;

interface ReceivingTools {
  hub: Hub;
  /** Verifies a delivery and returns its JSON; `replay` if it came before. */
  receive(request: IncomingMessage): Promise<ReceivedDelivery>;
  log(event: HubLogEvent): void;
}

/** Returns the handler of deliveries. */
export function createReceiving({ hub, receive, log }: ReceivingTools) {
  /** The deliveries that are arriving, the oldest first. */
  const arriving = new Set<IncomingMessage>();
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (code: string, status: number) => {
      log({ type: 'refused-delivery', code, status });
      response.setHeader('Connection', 'close');
      sendJson(response, status);
    };
    arriving.add(request);
    for (const event of ['end', 'close']) request.once(event, () => arriving.delete(request));
    // An authentic delivery arrives in an instant: many slow ones must not keep it out.
    const [oldest] = arriving;
    if (arriving.size > mostDeliveries) oldest?.destroy();
    try {
      const { json, replay, ageSeconds } = await receive(request);
      const ids = replay ? 0 : hub.deliver(json);
      log({ type: 'delivery', ids, replay, ageSeconds });
      sendJson(response, 204);
    } catch (error) {
      const status = statusOf(error);
      if (status === 500) log({ type: 'fault', error });
      refuse(status === 500 ? 'error' : String((error as { code?: unknown }).code), status);
    }
  };
}
