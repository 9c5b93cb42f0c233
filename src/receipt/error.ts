import { excerpt } from '../sanitize.ts';

/**
 * The checks of a receipt, in the order in which they are made.
 *
 * `envelope` a DSSE envelope; `signature` one of the trusted keys signed it; `payload_type` it contains an in-toto statement;
 * `statement` the statement and its predicate have the right types and every field of a receipt; `duplicate_keys` no object in
 * the statement has a key twice; `result` `PASSED`, or an allowed `WARNED`; `commit` `subject` `repository` `project` `process`
 * `tags` `environment` `base_url` the expected ones; `deployed` the gate checked the build; `age` not too old, and not from the
 * future.
 */
export const checkNames = [
  'envelope',
  'signature',
  'payload_type',
  'statement',
  'duplicate_keys',
  'result',
  'commit',
  'subject',
  'repository',
  'project',
  'process',
  'tags',
  'environment',
  'base_url',
  'deployed',
  'age',
] as const;

/** The name of a check of a receipt. */
export type CheckName = (typeof checkNames)[number];

/** Why a receipt was refused: the first check that failed; `bad_key`, a key is not an Ed25519 key; `bad_option`, an invalid argument. Stable. */
export type ReceiptErrorCode = CheckName | 'bad_key' | 'bad_option';

/** The only error that `verifyReceipt` throws. */
export class ReceiptError extends Error {
  // Node prints the static name; without this line it would be the minified class name of the build.
  static override readonly name = 'ReceiptError';
  override readonly name = 'ReceiptError';
  readonly code: ReceiptErrorCode;
  /** The remedy, as a sentence. */
  readonly hint: string | undefined;

  constructor(code: ReceiptErrorCode, message: string, hint?: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }
}

/** Why a check refuses a receipt. */
export class Refused extends Error {
  readonly hint: string | undefined;

  constructor(reason: string, hint?: string) {
    super(reason);
    this.hint = hint;
  }
}

/** Quotes an untrusted text for a message. */
export const quoted = (text: string, most = 100): string => `"${excerpt(text, most)}"`;
