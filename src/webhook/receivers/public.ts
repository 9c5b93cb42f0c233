import { type WebhookErrorCode, WebhookVerificationError } from '../error.ts';
import type { Verified, VerifyOptions } from '../options.ts';

export { type WebhookErrorCode, WebhookVerificationError };

/** An authentic delivery, as every receiver returns it. */
export interface Delivery {
  readonly verified: Verified;
  /** `sha256=<hex>`, converted to lower case. */
  readonly signature: string;
  /** The raw body. */
  readonly bytes: Uint8Array;
  /** The body as UTF-8 text. */
  text(): string;
  /** The parsed body; throws `invalid_json` if the option `json` is false and the body is not JSON. */
  json(): unknown;
}

/** The options of every receiver. */
export interface ReceiveOptions extends Omit<VerifyOptions, 'body' | 'headers' | 'now'> {
  /** The maximum length of a body in bytes; default 1 MiB. */
  maxBytes?: number | undefined;
  /** False accepts bodies that are not JSON; by default an authentic one is refused as `invalid_json`. */
  json?: boolean | undefined;
  /** Returns the time to compare the timestamp with; default now. */
  now?: (() => Date) | undefined;
  /**
   * Receives each error before it is thrown. By default the receiver logs one line with `console.error`: the code, the
   * status and the age of the delivery, but no text from the sender.
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** The status codes for refused deliveries. */
export type RefusalStatus = 400 | 401 | 413 | 500;

const statuses: Readonly<Record<WebhookErrorCode, RefusalStatus>> = {
  missing_header: 400,
  duplicate_header: 400,
  malformed_timestamp: 400,
  malformed_signature: 400,
  invalid_json: 400,
  body_incomplete: 400,
  mismatch: 401,
  too_old: 401,
  too_new: 401,
  body_too_large: 413,
  // Mistakes of the receiver, not of the sender.
  body_not_raw: 500,
  no_secret: 500,
  bad_option: 500,
  store_timeout: 500,
};

/**
 * Returns the status code to respond with to an error; 500 for an error that is not about the delivery.
 * @example
 * ```ts
 * import { statusOf, WebhookVerificationError } from 'rungate/webhook/fetch';
 *
 * console.log(statusOf(new WebhookVerificationError('body_too_large', 'too long'))); // 413
 * ```
 */
export function statusOf(error: unknown): RefusalStatus {
  return error instanceof WebhookVerificationError ? statuses[error.code] : 500;
}
