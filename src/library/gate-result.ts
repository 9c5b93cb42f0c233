import type { GateReport } from '../gate/result-types.ts';
import type { Envelope } from '../receipt/dsse.ts';
import type { Statement } from '../receipt/statement.ts';
import { gateReceipt, type ReceiptOptions, type ReceiptSource } from './receipt.ts';

/** The result of a gate: its report, and a method that returns a receipt. JSON and copies of it have only the report. */
export interface GateResult extends GateReport {
  /**
   * Returns a receipt, to be saved as JSON: the envelope that `verifyReceipt` verifies, or without a key the statement in
   * it; null if a run has no verdict.
   * @throws UsageError if the commit is unknown or the key cannot sign
   */
  receipt(options?: ReceiptOptions): Promise<Envelope | Statement | null>;
}

export function withReceipt(report: GateReport, source: ReceiptSource): GateResult {
  // Taken now: the caller may change the report.
  const copy = structuredClone(report);
  return Object.defineProperty(report, 'receipt', {
    value: (options: ReceiptOptions = {}) => gateReceipt(copy, source, options),
  }) as GateResult;
}
