import {
  type ErrorReport,
  MismatchError,
  RungateError,
  redactError,
  redactResponse,
  reportError,
  type StopCause,
  TimeoutError,
} from '../errors.ts';
import { exitCodeOf, exitCodeOfSignal, exitCodes } from '../exit.ts';
import type { Redact } from '../redact.ts';
import { type Result, shownAs, type Verdict, worst } from './policy.ts';
import type { Cancellation, GateReport, RunReport, RunSubject } from './result-types.ts';
import { named } from './watched-run.ts';

export interface Suite {
  name: string;
  report: GateReport;
}

/** A gate for a report: the only one, or several as one, with a suite for each. */
export interface SuitesReport extends GateReport {
  suites?: readonly Suite[];
}

/** Returns the suites of a report. A gate without a name has the suite `rungate`. */
export const suitesOf = (report: SuitesReport): readonly Suite[] =>
  report.suites ?? [{ name: 'rungate', report }];

const nothingKnown: RunReport = {
  runId: null,
  ...named(),
  state: null,
  verdict: null,
  action: 'fail',
  failed: null,
  blocked: null,
  appUrl: null,
  attempts: 0,
  elapsedSeconds: 0,
  idempotencyKey: null,
  reattached: false,
};

/** Returns the report of a run that was never read. */
export function unknownRun(known: Partial<RunReport>): RunReport {
  const run = { ...nothingKnown, ...known };
  return { ...run, name: run.name ?? run.runId };
}

/** Returns why a run of one of several gates was not started or stopped, for a report that lists the runs of all of them. */
export function haltError(code: 'skipped' | 'stopped', message: string): ErrorReport {
  return { code, message, status: null, method: null, path: null, details: null, hint: null, body: null };
}

/** Returns the entry of a gate that never began, in a report that lists the runs of several gates. */
export const skippedRun = (subject: RunSubject, reason: string): RunReport =>
  unknownRun({ ...subject, error: haltError('skipped', reason) });

export const isSkipped = ({ verdict, error }: RunReport) => verdict === null && error?.code === 'skipped';

export const verdictText = (run: RunReport) => run.verdict ?? (isSkipped(run) ? 'skipped' : 'stopped');

/** Converts milliseconds to seconds with three decimals, the precision of the clock. */
export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** Returns the runs that decide: of a gate with several runs by `retries` only one. */
export const decidingRuns = ({ runs }: Pick<GateReport, 'runs'>): RunReport[] =>
  runs.filter(({ decides }) => decides !== false);

/** Returns how every output and report shows the gate: like its worst run, and as `fail` for any exit code but 0. */
export function shownGate(report: GateReport): Result {
  const { result, exitCode } = report;
  if (result === 'waiting') return result;
  return exitCode === exitCodes.ok ? worst([result, ...decidingRuns(report).map(shownAs)]) : 'fail';
}

function verdictOfError(error: RungateError): Verdict {
  if (error instanceof MismatchError) return 'mismatch';
  return error instanceof TimeoutError ? 'timeout' : 'unobserved';
}

/** Returns the report of a gate that created no run, or could not begin. It fails, whatever the policy says. */
export function reportUncreated(known: readonly Partial<RunReport>[], error: RungateError): GateReport {
  const why = { verdict: verdictOfError(error), error: reportError(error) };
  const runs = known.map((run) => unknownRun({ ...run, ...why }));
  return { schemaVersion: 1, result: 'fail', exitCode: exitCodeOf(error), runs };
}

/** Returns the report of a stopped wait. The gate fails, whatever the runs have shown so far; after a slice it goes on. */
export function reportStop(report: GateReport, signal: StopCause, cancellation: Cancellation): GateReport {
  const result = signal === 'slice' ? 'waiting' : 'fail';
  return {
    ...report,
    result,
    runs: report.runs.map((run) => (run.verdict === null ? { ...run, action: result } : run)),
    exitCode: exitCodeOfSignal(signal),
    interruptedBy: signal,
    cancellation,
  };
}

/** Fields whose texts rungate chooses itself. */
const ownFields: readonly string[] = [
  ...['gate', 'result', 'action', 'verdict', 'code', 'method', 'interruptedBy', 'cancellation'],
  ...['type', 'phase', 'by'],
];

function redacted(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact));
  if (value instanceof RungateError) return redactError(value, redact);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      ownFields.includes(name)
        ? member
        : name === 'body' && typeof member === 'string'
          ? redactResponse(member, redact)
          : redacted(member, redact),
    ]),
  );
}

/** Returns a report or an event without secrets. */
export function redactReport<Report extends object>(report: Report, redact: Redact): Report {
  return redacted(report, redact) as Report;
}
