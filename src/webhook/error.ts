/**
 * Why a delivery was not accepted. Stable.
 *
 * `missing_header` `duplicate_header` the timestamp or the signature is not there, or there more than once;
 * `malformed_timestamp` not an RFC 3339 date-time with a zone; `malformed_signature` not `sha256=` and 64 hex digits;
 * `too_old` `too_new` authentic, but outside the allowed age; `mismatch` not signed with any of the secrets over these
 * bytes; `body_not_raw` the body was parsed before it got here; `no_secret` nothing to verify with; `invalid_json`
 * authentic, but not JSON; `bad_option` the call itself is wrong.
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
  | 'bad_option';

/** The one class of everything that `sign` and `verify` throw. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookErrorCode;
  /** What to do about it, as a sentence to a person. */
  readonly hint: string | undefined;

  constructor(code: WebhookErrorCode, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
