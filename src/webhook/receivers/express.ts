import { errorOf, refusalStatus } from './delivery.ts';
import { type IncomingRequest, receiveIncoming } from './incoming.ts';
import type { Delivery, ReceiveOptions } from './public.ts';

export { deliveryOf } from './delivery.ts';
export * from './public.ts';

declare global {
  namespace Express {
    interface Request {
      /** Set by `webhook()` of rungate once the delivery is verified. */
      webhook?: Delivery | undefined;
    }
  }
}

/** The part of an Express request that the receiver uses. */
export type ExpressRequest = IncomingRequest & { webhook?: Delivery | undefined };
/** The part of an Express response that the receiver uses. */
export interface ExpressResponse {
  statusCode: number;
  end(): unknown;
}
/** Express's `next`: passes the request on, or an error. */
export type ExpressNext = (error?: unknown) => void;

/** The options of the Express receiver. */
export interface ExpressOptions<
  Request extends ExpressRequest = ExpressRequest,
  Response extends ExpressResponse = ExpressResponse,
> extends Omit<ReceiveOptions, 'onError'> {
  /**
   * Logs and responds instead of the receiver, which would respond with `statusOf(error)`. The handler is not called: `next()`
   * passes the error on, and so does an error of `onError`.
   */
  onError?:
    | ((error: unknown, request: Request, response: Response, next: ExpressNext) => unknown)
    | undefined;
}

const remedy =
  "mount the webhook before express.json(), or give its route express.raw({ type: '*/*' }) instead of a parser; in Nest, create the app with { rawBody: true }";

/** Responds to the sender's mistakes with an empty body, and passes all others to the app. */
function respond(error: unknown, _request: unknown, response: ExpressResponse): void {
  response.statusCode = refusalStatus(error);
  response.end();
}

/**
 * Returns middleware for Express 4 and 5 that verifies a delivery and sets `request.webhook` (see `deliveryOf`). It reads
 * the body itself and sets `request.body` to the raw bytes, or uses the bytes that `express.raw` read.
 * @example
 * ```ts
 * import express from 'express';
 * import { deliveryOf, webhook } from 'rungate/webhook/express';
 *
 * const app = express();
 * app.post('/hook', webhook({ secrets: process.env.HOOK_SECRET }), (request, response) => {
 *   console.log(deliveryOf(request).json());
 *   response.sendStatus(204);
 * });
 * ```
 */
export function webhook<Request extends ExpressRequest, Response extends ExpressResponse>(
  options: ExpressOptions<Request, Response>,
): (request: Request, response: Response, next: ExpressNext) => Promise<void> {
  const { onError = respond } = options;
  return async (request, response, next) => {
    const unread = request.readableDidRead !== true;
    try {
      request.webhook = await receiveIncoming(request, options, remedy);
    } catch (error) {
      const refuse = (given?: unknown) => next(errorOf(given, error));
      try {
        await onError(error, request, response, refuse);
      } catch (failure) {
        refuse(failure);
      }
      return;
    }
    if (unread) {
      request.body = request.webhook.bytes;
      // Tells the parsers of Express 4 that the body was read; otherwise they would wait for it, or fail.
      Object.assign(request, { _body: true });
    }
    next();
  };
}
