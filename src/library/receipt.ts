import * as z from 'zod/mini';
import { checkOptions, optionsOf, text } from '../client/check-options.ts';
import { UsageError } from '../errors.ts';
import type { GateReport } from '../gate/result-types.ts';
import type { Envelope } from '../receipt/dsse.ts';
import { ReceiptError } from '../receipt/error.ts';
import { type GateFacts, gateStatement, receiptOf } from '../receipt/gate-statement.ts';
import { readPrivateKey } from '../receipt/keys.ts';
import { type Statement, wholeCommit } from '../receipt/statement.ts';
import type { Redact } from '../redact.ts';

/** The options of `result.receipt()`. */
export interface ReceiptOptions {
  /** The private key (PEM, PKCS#8, Ed25519); default: none, which returns the statement without a signature. */
  key?: string | undefined;
  /** The whole commit; default: `trigger.commitSha`, or the commit in `env`. */
  commit?: string | undefined;
  /** `owner/name`; default: `trigger.repository`, or the repository in `env`. */
  repository?: string | undefined;
}

const receiptOptions = optionsOf<ReceiptOptions>({
  key: z.optional(text),
  commit: z.optional(text),
  repository: z.optional(text),
});

/** The report of a gate, with a method that returns a receipt. JSON and copies of it have only the report. */
export interface ReportWithReceipt extends GateReport {
  /**
   * Returns a receipt, to be saved as JSON: the envelope that `verifyReceipt` verifies, or without a key the statement in
   * it; null if a run has no verdict.
   * @throws UsageError if the commit is unknown or the key cannot sign
   */
  receipt(options?: ReceiptOptions): Promise<Envelope | Statement | null>;
}

function signingKey(key: string) {
  try {
    return readPrivateKey(key);
  } catch (error) {
    if (!(error instanceof ReceiptError)) throw error;
    throw new UsageError(`receipt: key cannot sign: ${error.message}`, { hint: error.hint });
  }
}

/** Adds the method to a report. */
export function withReceipt(report: GateReport, facts: GateFacts, redact: Redact): ReportWithReceipt {
  // Taken now: the caller may change the report.
  const copy = structuredClone(report);
  const value = async (given: ReceiptOptions = {}) => {
    const { key, ...own } = checkOptions(receiptOptions, given, 'receipt');
    const commitSha = wholeCommit(own.commit ?? facts.build.commitSha);
    if (commitSha === null)
      throw new UsageError('receipt: the full commit hash is unknown', {
        hint: 'pass commit, 40 or 64 hex digits, or give trigger.commitSha or env to gate',
      });
    const signer = key === undefined ? null : signingKey(key);
    const build = { ...facts.build, commitSha, repository: own.repository ?? facts.build.repository };
    const statement = gateStatement(copy, { ...facts, build }, redact);
    return statement && receiptOf(statement, signer);
  };
  return Object.defineProperty(report, 'receipt', { value }) as ReportWithReceipt;
}
