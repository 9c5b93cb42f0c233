import { deliver, notRaw, reportErrors } from './delivery.ts';
import type { Delivery, ReceiveOptions } from './public.ts';

export * from './public.ts';

/** The part that the receiver uses of an event of API Gateway (payload 1.0 and 2.0), a function URL or a load balancer. */
export interface LambdaEvent {
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

const remedy =
  'pass the event unchanged: before a body parser (in middy, http-json-body-parser), and with a proxy integration, which passes the body as text';

function bodyBytes({ body, isBase64Encoded }: LambdaEvent): Uint8Array {
  const unchecked: unknown = body ?? '';
  if (typeof unchecked !== 'string') throw notRaw(remedy);
  return Buffer.from(unchecked, isBase64Encoded === true ? 'base64' : 'utf8');
}

/**
 * Verifies an HTTP event of Lambda.
 * @throws WebhookVerificationError
 * @example
 * ```ts
 * import { type LambdaEvent, receive, statusOf } from 'rungate/webhook/lambda';
 *
 * export async function handler(event: LambdaEvent) {
 *   try {
 *     const delivery = await receive(event, { secrets: process.env.HOOK_SECRET });
 *     console.log(delivery.json());
 *     return { statusCode: 204 };
 *   } catch (error) {
 *     return { statusCode: statusOf(error) };
 *   }
 * }
 * ```
 */
export async function receive(event: LambdaEvent, options: ReceiveOptions): Promise<Delivery> {
  // In payload 1.0, `headers` has only the last value of a name, and `multiValueHeaders` all.
  const headers = { ...event.headers, ...event.multiValueHeaders };
  return reportErrors(
    options,
    deliver(headers, options, () => bodyBytes(event)),
  );
}
