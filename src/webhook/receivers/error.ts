import { type WebhookErrorCode, WebhookVerificationError } from '../error.ts';

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
