import { ReceiptError } from './error.ts';
import { readOptions, type VerifyReceiptOptions } from './options.ts';
import type { ReceiptResult, Statement } from './statement.ts';
import { ageOf, examine } from './verify.ts';

export type { Artifact } from '../subject.ts';
export type { CheckName, ReceiptErrorCode } from './error.ts';
export { ReceiptError } from './error.ts';
export type { VerifyReceiptOptions } from './options.ts';
export type {
  ReceiptDeployment,
  ReceiptFacts,
  ReceiptResult,
  ReceiptRun,
  ResourceDescriptor,
  Statement,
  TestedCommit,
} from './statement.ts';

/** An authentic receipt with the expected facts. */
export interface VerifiedReceipt {
  result: ReceiptResult;
  /** The SHA-256 of the trusted key that signed, in DER (SPKI), in hex. */
  keyId: string;
  /** Milliseconds since the runs ended; negative if the receipt's clock is ahead. */
  ageMs: number;
  statement: Statement;
}

/**
 * Verifies a receipt: a trusted key signed it, the runs passed, and it is for this commit, or for these images and files.
 * Makes the checks in the order of
 * their names in `CheckName`, and trusts nothing in the receipt before its signature is verified.
 * @throws ReceiptError, and no other error; `code` names the first check that failed
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { verifyReceipt } from 'rungate/receipt';
 *
 * const { result } = await verifyReceipt({
 *   receipt: readFileSync('receipt.json'),
 *   keys: readFileSync('receipt.pub', 'utf8'),
 *   commit: '3c1d9a7f0b2e4c6a8d1f3b5e7a9c0d2e4f6a8b1c',
 * });
 * console.log(result); // PASSED
 * ```
 */
export async function verifyReceipt(options: VerifyReceiptOptions): Promise<VerifiedReceipt> {
  try {
    const { bytes, expected } = readOptions(options);
    const { checks, keyId, statement } = examine(bytes, expected);
    const failed = checks.find(({ status }) => status === 'failed');
    if (failed !== undefined)
      throw new ReceiptError(failed.check, `the receipt was refused: ${failed.reason}`, failed.hint);
    if (statement === null || keyId === null) throw new Error('the receipt was not read');
    return {
      result: statement.predicate.result,
      keyId,
      ageMs: ageOf(statement, expected.now),
      statement: structuredClone(statement),
    };
  } catch (error) {
    if (error instanceof ReceiptError) throw error;
    const message = 'an option cannot be read, or the runtime rejected it';
    throw new ReceiptError('bad_option', message, 'see the cause of this error', { cause: error });
  }
}
