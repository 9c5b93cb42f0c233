import { ownOptions } from '../../own-options.ts';
import { logRefusal } from './delivery.ts';
import { type IncomingRequest, receiveIncoming } from './incoming.ts';
import { type Delivery, type ReceiveOptions, statusOf } from './public.ts';

export { deliveryOf } from './delivery.ts';
export * from './public.ts';

declare global {
  namespace Express {
    interface Request {
      /** Set by `webhook()` of rungate, and only for a delivery that is authentic. */
      webhook?: Delivery | undefined;
    }
  }
}

/** What is used of a request, a response and `next`. */
export type ExpressRequest = IncomingRequest & { webhook?: Delivery | undefined };
/** What is used of a response. */
export interface ExpressResponse {
  statusCode: number;
  end(): unknown;
}
/** Hands the request on, or an error. */
export type ExpressNext = (error?: unknown) => void;

/** What the receiver checks, and what it does with a delivery. */
export interface ExpressOptions<
  Request extends ExpressRequest = ExpressRequest,
  Response extends ExpressResponse = ExpressResponse,
> extends Omit<ReceiveOptions, 'onError'> {
  /** Logs and answers in place of the receiver; `statusOf(error)` is the status that it answers with. */
  onError?: ((error: unknown, request: Request, response: Response, next: ExpressNext) => void) | undefined;
}

const how =
  "mount the webhook before express.json(), or give its route express.raw({ type: '*/*' }) instead of a parser";

/** All are logged. The sender's mistakes are answered without a word, ours go to the error handling of the app. */
function answer(error: unknown, _request: unknown, response: ExpressResponse, next: ExpressNext): void {
  logRefusal(error);
  const status = statusOf(error);
  if (status >= 500) {
    next(error);
    return;
  }
  response.statusCode = status;
  response.end();
}

/**
 * Middleware for Express 4 and 5: verifies, then sets `request.webhook` (see `deliveryOf`). It reads the body itself, or
 * takes what `express.raw` left; where it read, `request.body` is the raw bytes.
 */
export function webhook<Request extends ExpressRequest, Response extends ExpressResponse>(
  options: ExpressOptions<Request, Response>,
): (request: Request, response: Response, next: ExpressNext) => Promise<void> {
  return async (request, response, next) => {
    const unread = request.readableDidRead !== true;
    try {
      request.webhook = await receiveIncoming(request, options, how);
    } catch (error) {
      (ownOptions(options ?? {}, ['onError']).onError ?? answer)(error, request, response, next);
      return;
    }
    if (unread) {
      request.body = request.webhook.bytes;
      // By this the parsers of Express 4 know that a body was read; they would wait for it, or fail.
      Object.assign(request, { _body: true });
    }
    next();
  };
}
