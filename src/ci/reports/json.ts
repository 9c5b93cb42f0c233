import type { GateReport } from '../../gate/report.ts';
import { escapeJson } from '../../sanitize.ts';

/** The gate as stdout shows it with `--json`, byte for byte. */
export function jsonReport(report: GateReport): string {
  return `${escapeJson(JSON.stringify(report, null, 2))}\n`;
}
