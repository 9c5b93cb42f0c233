/**
 * Why a delivery was not accepted. Stable.
 *
 * `missing_header` `duplicate_header` the timestamp or the signature is not there, or there more than once;
 * `malformed_timestamp` not an RFC 3339 date-time with a zone; `malformed_signature` not `sha256=` and 64 hex digits;
 * `too_old` `too_new` authentic, but outside the allowed age; `mismatch` not signed with any of the secrets over these
 * bytes; `body_not_raw` the body was parsed before it got here; `no_secret` nothing to verify with; `invalid_json`
 * authentic, but not JSON; `bad_option` the call itself is wrong; `store_timeout` the replay store did not answer in time.
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
  | 'no_secret'
  | 'invalid_json'
  | 'bad_option'
  | 'store_timeout';

/** The one class of everything that `sign` and `verify` throw. */
export class WebhookVerificationError extends Error {
  // The class's own too, which Node prints: the one it is written with is a letter in the built file.
  static override readonly name = 'WebhookVerificationError';
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookErrorCode;
  /** What to do about it, as a sentence to a person. */
  readonly hint: string | undefined;
  /**
   * Seconds since the timestamp of the delivery, below 0 if that is ahead; undefined if none was read. With `mismatch` and
   * `malformed_signature` nobody has signed it.
   */
  readonly ageSeconds: number | undefined;
  readonly #ours = true;

  constructor(
    code: WebhookErrorCode,
    message: string,
    hint?: string,
    options?: ErrorOptions & { ageSeconds?: number | undefined },
  ) {
    super(message, options);
    this.code = code;
    this.hint = hint;
    this.ageSeconds = options?.ageSeconds;
  }

  /** Whether a value is of this class, by a question that runs no code of the value's. */
  static is(value: unknown): value is WebhookVerificationError {
    return typeof value === 'object' && value !== null && #ours in value;
  }
}

/** @throws what is said of a call that is wrong itself */
export function badOption(message: string, hint?: string): never {
  throw new WebhookVerificationError('bad_option', message, hint);
}

/**
 * What a catch has in hand, as the one class. Anything else was thrown by the caller's own objects (a getter, a proxy)
 * or by the runtime's crypto.
 */
export function asWebhookError(error: unknown): WebhookVerificationError {
  if (WebhookVerificationError.is(error)) return error;
  return new WebhookVerificationError(
    'bad_option',
    'an option cannot be read, or the runtime refused it',
    'the cause says what was thrown',
    { cause: error },
  );
}
