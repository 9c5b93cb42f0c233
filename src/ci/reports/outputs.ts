import { type GateReport, type RunReport, shownAs, worst } from '../../gate/report.ts';
import type { Verdict } from '../../gate/verdict.ts';
import { sanitize } from '../../sanitize.ts';

/** What a later step asks for, each in one line; empty where it is not known. A count is digits or empty. */
export interface GateOutputs {
  runId: string;
  verdict: string;
  gate: string;
  exitCode: string;
  failed: string;
  blocked: string;
  appUrl: string;
}

const verdictsByCode: Readonly<Record<number, Verdict>> = {
  1: 'failed',
  2: 'blocked',
  3: 'timeout',
  4: 'cancelled',
  5: 'unobserved',
  6: 'unobserved',
  7: 'unobserved',
};

/** The run that the gate came out by: of several, the first of the worst, by the gate's exit code and policy. */
export function decidingRun(report: GateReport): RunReport | undefined {
  const shown = worst(report.runs.map(shownAs));
  const alike = report.runs.filter((run) => shownAs(run) === shown);
  const verdict = report.interruptedBy === undefined ? verdictsByCode[report.exitCode] : null;
  const isDecisive = (run: RunReport) => run.gate === report.gate;
  return alike.find((run) => run.verdict === verdict) ?? alike.find(isDecisive) ?? alike[0];
}

/** A count that the service gave, or nothing. */
function digits(value: number | null | undefined): string {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : '';
}

/** A later step will print it, as it is: what could command a CI's log there is no id and no address of a run. */
function harmless(text: string | null | undefined): string {
  return typeof text === 'string' && sanitize(text) === text ? text : '';
}

export function gateOutputs(report: GateReport): GateOutputs {
  const run = decidingRun(report);
  return {
    runId: harmless(run?.runId),
    verdict: run?.verdict ?? '',
    gate: report.gate,
    exitCode: digits(report.exitCode),
    failed: digits(run?.failed),
    blocked: digits(run?.blocked),
    appUrl: harmless(run?.appUrl),
  };
}
