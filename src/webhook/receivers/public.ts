import { type WebhookErrorCode, WebhookVerificationError } from '../error.ts';
import type { Verified, VerifyOptions } from '../options.ts';

export { type WebhookErrorCode, WebhookVerificationError };

/** What every adapter hands out, and only for a delivery that is authentic. */
export interface Delivery {
  readonly verified: Verified;
  /** `sha256=<hex>` in lower case, whatever case it came in. */
  readonly signature: string;
  /** The body as it came. */
  readonly bytes: Uint8Array;
  /** The body as UTF-8 text. */
  text(): string;
  /** The body parsed; throws `invalid_json` if the option `json` is false and the body is not JSON. */
  json(): unknown;
}

/** How deliveries are checked, and how large one may be. */
export interface ReceiveOptions extends Omit<VerifyOptions, 'body' | 'headers' | 'now'> {
  /** Bytes that a body may have; default 1 MiB. */
  maxBytes?: number | undefined;
  /** False takes a body that is not JSON, too; by default it is refused as `invalid_json`, once the signature is right. */
  json?: boolean | undefined;
  /** The clock; default the system's. */
  now?: (() => Date) | undefined;
  /**
   * Gets each error before it is thrown. Default: one line on `console.error` with the code and the age of the delivery, and
   * nothing that the sender wrote.
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** Why the body of a delivery could not be read. */
export type ReceiveErrorCode = 'body_too_large' | 'body_incomplete';

/** The request ended before there was anything to verify. */
export class WebhookReceiveError extends Error {
  override readonly name = 'WebhookReceiveError';
  readonly code: ReceiveErrorCode;

  constructor(code: ReceiveErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** The statuses that a delivery is refused with. */
export type RefusalStatus = 400 | 401 | 413 | 500;

const statuses: Readonly<Record<WebhookErrorCode | ReceiveErrorCode, RefusalStatus>> = {
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
  // Our own mistakes.
  body_not_raw: 500,
  no_secret: 500,
  bad_option: 500,
  store_timeout: 500,
};

/** The status to answer an error with. Whatever is not of a delivery is 500. */
export function statusOf(error: unknown): RefusalStatus {
  const ours = error instanceof WebhookVerificationError || error instanceof WebhookReceiveError;
  return ours ? statuses[error.code] : 500;
}
