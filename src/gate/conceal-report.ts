import type { Conceal } from '../conceal.ts';
import type { GateReport } from './report.ts';

/** Fields whose texts rungate chooses itself. */
const ours: readonly string[] = ['gate', 'verdict', 'code', 'method', 'interruptedBy', 'cancellation'];

function concealed(value: unknown, conceal: Conceal): unknown {
  if (typeof value === 'string') return conceal(value);
  if (Array.isArray(value)) return value.map((item) => concealed(item, conceal));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      ours.includes(name) ? member : concealed(member, conceal),
    ]),
  );
}

/** The report without secrets, before any format shortens its texts or spells them differently. */
export function concealReport(report: GateReport, conceal: Conceal): GateReport {
  return concealed(report, conceal) as GateReport;
}
