import { reportErrors } from './delivery.ts';
import { type IncomingRequest, receiveIncoming } from './incoming.ts';
import type { Delivery, ReceiveOptions } from './public.ts';

export * from './public.ts';
export type { IncomingRequest };

const remedy =
  'pass the request before anything reads it; if a framework parses bodies, turn that off for this route (in Next: export const config = { api: { bodyParser: false } }), or keep the raw body (in Nest: create the app with { rawBody: true })';

/**
 * Reads and verifies a request of `node:http`, `node:https` or `node:http2`. After an error, respond with
 * `statusOf(error)`; Node then discards the rest of the body.
 * @throws WebhookVerificationError
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { receive, statusOf } from 'rungate/webhook/node-http';
 *
 * createServer(async (request, response) => {
 *   try {
 *     const delivery = await receive(request, { secrets: process.env.HOOK_SECRET });
 *     console.log(delivery.json());
 *     response.writeHead(204).end();
 *   } catch (error) {
 *     response.writeHead(statusOf(error)).end();
 *   }
 * }).listen(3000);
 * ```
 */
export async function receive(request: IncomingRequest, options: ReceiveOptions): Promise<Delivery> {
  return reportErrors(options, receiveIncoming(request, options, remedy));
}
