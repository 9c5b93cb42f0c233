import { telling } from './delivery.ts';
import { type IncomingRequest, receiveIncoming } from './incoming.ts';
import type { Delivery, ReceiveOptions } from './public.ts';

export * from './public.ts';
export type { IncomingRequest };

const how =
  'hand over the request before anything reads it; where a framework parses bodies, switch that off for this route (in Next: export const config = { api: { bodyParser: false } })';

/**
 * Reads and verifies a request of `node:http`, `node:https` or `node:http2`. On an error the rest of the body is
 * unread: answer with `statusOf(error)`, and Node discards it.
 * @throws WebhookVerificationError, or WebhookReceiveError when the body could not be read
 */
export async function receive(request: IncomingRequest, options: ReceiveOptions): Promise<Delivery> {
  return telling(options, () => receiveIncoming(request, options, how));
}
