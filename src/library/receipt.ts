import * as z from 'zod/mini';
import { checkOptions, optionsOf, text } from '../client/check-options.ts';
import { UsageError } from '../errors.ts';
import type { GateReport } from '../gate/result-types.ts';
import type { Envelope } from '../receipt/dsse.ts';
import { ReceiptError } from '../receipt/error.ts';
import { type BuildSource, buildFacts, type GateFacts, receiptOf } from '../receipt/gate-statement.ts';
import { type Key, readPrivateKey } from '../receipt/keys.ts';
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

/** The facts for a receipt that a gate knows from its options. */
export interface ReceiptSource
  extends Pick<GateFacts, 'apiUrl' | 'subjects' | 'policy' | 'startedAt' | 'finishedAt'> {
  build(): Promise<BuildSource>;
  readonly redact: Redact;
}

function signingKey(key: string): Key {
  try {
    return readPrivateKey(key);
  } catch (error) {
    if (!(error instanceof ReceiptError)) throw error;
    throw new UsageError(`receipt: key cannot sign: ${error.message}`, { hint: error.hint });
  }
}

/** Null if a run has no verdict. @throws UsageError */
export async function gateReceipt(
  report: GateReport,
  { build, redact, ...known }: ReceiptSource,
  given: ReceiptOptions,
): Promise<Envelope | Statement | null> {
  const { key, commit: ownCommit, repository } = checkOptions(receiptOptions, given, 'receipt');
  const facts = buildFacts(await build());
  const commit = wholeCommit(ownCommit ?? facts.commit);
  if (commit === null)
    throw new UsageError('receipt: the whole commit is unknown', {
      hint: 'pass commit, 40 or 64 hex digits, or give trigger.commitSha or env to gate',
    });
  const signer = key === undefined ? null : signingKey(key);
  const subject = { commit, repository: repository ?? facts.repository };
  return receiptOf(report, { ...facts, ...known, ...subject }, signer, redact);
}

/** The report of a gate, with a method that returns a receipt. JSON and copies of it have only the report. */
export interface ReportWithReceipt extends GateReport {
  /**
   * Returns a receipt, to be saved as JSON: the envelope that `verifyReceipt` verifies, or without a key the statement in
   * it; null if a run has no verdict.
   * @throws UsageError if the commit is unknown or the key cannot sign
   */
  receipt(options?: ReceiptOptions): Promise<Envelope | Statement | null>;
}

export function withReceipt(report: GateReport, source: ReceiptSource): ReportWithReceipt {
  // Taken now: the caller may change the report.
  const copy = structuredClone(report);
  return Object.defineProperty(report, 'receipt', {
    value: (options: ReceiptOptions = {}) => gateReceipt(copy, source, options),
  }) as ReportWithReceipt;
}
