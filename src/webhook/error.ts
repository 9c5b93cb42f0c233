/**
 * Why a delivery was not accepted. Stable.
 *
 * `missing_header` `duplicate_header` the timestamp or the signature is missing, or is present more than once;
 * `malformed_timestamp` not an RFC 3339 date-time with a zone; `malformed_signature` not `sha256=` and 64 hex digits;
 * `too_old` `too_new` authentic, but outside the allowed age; `mismatch` none of the secrets signed these bytes;
 * `body_not_raw` the body was parsed before verification; `body_too_large` `body_incomplete` a receiver could not read the
 * body; `no_secret` no secret was given; `invalid_json` authentic, but not JSON; `bad_option` an argument is invalid;
 * `store_timeout` the replay store did not respond in time.
 */
export type WebhookErrorCode =
  | 'missing_header'
  | 'duplicate_header'
  | 'malformed_timestamp'
  | 'too_old'
  | 'too_new'
  | 'malformed_signature'
  | 'mismatch'
  | 'body_not_raw'
  | 'body_too_large'
  | 'body_incomplete'
  | 'no_secret'
  | 'invalid_json'
  | 'bad_option'
  | 'store_timeout';

/** The only error of `sign`, `verify` and the receivers. */
export class WebhookVerificationError extends Error {
  // Node prints the static name; without this line it would be the minified class name of the build.
  static override readonly name = 'WebhookVerificationError';
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookErrorCode;
  /** The remedy, as a sentence. */
  readonly hint: string | undefined;
  /**
   * Seconds since the delivery's timestamp, negative if the timestamp is ahead; undefined if it was not read. With
   * `mismatch` and `malformed_signature` the timestamp is not authenticated.
   */
  readonly ageSeconds: number | undefined;

  constructor(
    code: WebhookErrorCode,
    message: string,
    hint?: string,
    options?: { cause?: unknown } & { ageSeconds?: number | undefined },
  ) {
    super(message, options);
    this.code = code;
    this.hint = hint;
    this.ageSeconds = options?.ageSeconds;
  }
}

export function badOption(message: string, hint?: string): never {
  throw new WebhookVerificationError('bad_option', message, hint);
}

/** Any other error came from the caller's own objects or from the runtime's crypto, and becomes the cause of a `bad_option`. */
export function asWebhookError(error: unknown): WebhookVerificationError {
  if (error instanceof WebhookVerificationError) return error;
  return new WebhookVerificationError(
    'bad_option',
    'an option cannot be read, or the runtime rejected it',
    'see the cause of this error',
    { cause: error },
  );
}
