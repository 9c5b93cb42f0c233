import { CollectedBytes } from '../../collected-bytes.ts';
import { badOption } from '../error.ts';
import { deliver, incomplete, notRaw, reportErrors, tooLarge } from './delivery.ts';
import type { Delivery, ReceiveOptions } from './public.ts';

export * from './public.ts';

/** The part of a `Request` that the receiver uses. */
export interface FetchRequest {
  readonly headers: { get(name: string): string | null; forEach: unknown };
  readonly bodyUsed: boolean;
  readonly body: {
    readonly locked: boolean;
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(): Promise<unknown>;
    };
  } | null;
}

const remedy =
  'pass the request before anything calls json(), text() or formData() on it; in Hono, c.req.raw before c.req.json() or a validator';

async function readAll(stream: NonNullable<FetchRequest['body']>, maxBytes: number): Promise<Uint8Array> {
  const reader = stream.getReader();
  const body = new CollectedBytes(maxBytes);
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw incomplete(error);
    });
    if (done || value === undefined) return new Uint8Array(body.bytes());
    if (!body.add(value)) {
      // Do not wait for a sender that goes on sending.
      reader.cancel().catch(() => undefined);
      throw tooLarge(maxBytes);
    }
  }
}

async function received(request: FetchRequest, options: ReceiveOptions): Promise<Delivery> {
  const instead =
    'pass the Request (in Hono, c.req.raw), or use rungate/webhook/node-http for a Node request';
  if (typeof request?.headers?.get !== 'function')
    badOption(`receive did not get a Request of the Fetch API: ${instead}`, instead);
  const { body, bodyUsed, headers } = request;
  return deliver(headers, options, (maxBytes) => {
    if (bodyUsed || body?.locked) throw notRaw(remedy);
    return body === null ? new Uint8Array() : readAll(body, maxBytes);
  });
}

/**
 * Reads and verifies a `Request` of the Fetch API: Workers, Deno, Bun, Hono (`c.req.raw`), route handlers of Next.
 * Consumes the body of the request; afterwards only the delivery has it.
 * @throws WebhookVerificationError
 * @example
 * ```ts
 * import { receive, statusOf } from 'rungate/webhook/fetch';
 *
 * export async function POST(request: Request): Promise<Response> {
 *   try {
 *     const delivery = await receive(request, { secrets: process.env.HOOK_SECRET });
 *     console.log(delivery.json());
 *     return new Response(null, { status: 204 });
 *   } catch (error) {
 *     return new Response(null, { status: statusOf(error) });
 *   }
 * }
 * ```
 */
export async function receive(request: FetchRequest, options: ReceiveOptions): Promise<Delivery> {
  return reportErrors(options, received(request, options));
}
