import { RungateError, type StopCause } from '../errors.ts';
import { exitCodes, mostSevere } from '../exit.ts';
import type { KeyChain } from './events.ts';
import { type GateTools, type JudgedRun, type RunOptions, runOnce } from './gate.ts';
import { judge, type Policy, shownAs, worst } from './policy.ts';
import { nothing, reportFlaky, reportStop, reportUncreated } from './report.ts';
import type { DiscardedRun, GateReport, RunReport } from './result-types.ts';
import type { Start } from './start.ts';
import { subjectOf } from './watched-run.ts';

/** The findings of earlier slices of a gate. The keys of its start continue from there. */
export interface SoFar {
  /** The runs that have failed, of which the gate continues the retries. */
  failed: readonly RunReport[];
  discarded: readonly DiscardedRun[];
}

export interface RunsOptions extends Omit<RunOptions, 'retry'> {
  soFar?: SoFar | undefined;
}

/** Returns the worse of two reports, the later one of equals. */
function worse(earlier: GateReport, later: GateReport): GateReport {
  if (earlier.result !== later.result)
    return worst([earlier.result, later.result]) === later.result ? later : earlier;
  return mostSevere([earlier.exitCode, later.exitCode]) === later.exitCode ? later : earlier;
}

/**
 * Returns the report of a gate from those of its runs, in order. `doubt`: a run that was discarded failed, and may have been the gate's.
 * A last run that passed decides, and is flaky after a failed one. Otherwise the worst run decides: only a pass makes up for a
 * failed run, so no policy for another verdict can let it pass.
 */
export function decide(reports: readonly GateReport[], policy: Policy, doubt = false): GateReport {
  const last = reports.at(-1);
  // Callers refuse an empty list. If one does not, the gate fails.
  if (last === undefined) return nothing;
  const passed = last.runs.length > 0 && last.runs.every((run) => shownAs(run) === 'pass');
  const decisive = passed || last.interruptedBy !== undefined ? last : reports.reduce(worse);
  const isFlaky = passed && last.interruptedBy === undefined && (reports.length > 1 || doubt);
  const report = isFlaky ? reportFlaky(decisive, policy) : decisive;
  return { ...report, runs: allRuns(reports, reports.indexOf(decisive), report.runs) };
}

/** Returns the runs of all reports, with the deciding ones for the report at the index. If there are others, each says whether it decides. */
function allRuns(reports: readonly GateReport[], at: number, deciding: readonly RunReport[]): RunReport[] {
  const earlier = reports.slice(0, at).flatMap(({ runs }) => runs);
  const later = reports.slice(at + 1).flatMap(({ runs }) => runs);
  // A stop before the run is created of a retry leaves the runs so far.
  const own = deciding.length > 0 ? deciding : earlier.splice(-1);
  if (earlier.length + later.length === 0) return [...own];
  const marked = (runs: readonly RunReport[], decides: boolean) => runs.map((run) => ({ ...run, decides }));
  return [...marked(earlier, false), ...marked(own, true), ...marked(later, false)];
}

const noTime = {
  type: 'note',
  message: 'the run failed, and the timeout leaves no time for a retry',
} as const;

function failedRun({ runs: [run, ...others], interruptedBy }: GateReport): RunReport | undefined {
  const isFailed = run?.verdict === 'failed' && others.length === 0 && interruptedBy === undefined;
  return isFailed ? run : undefined;
}

function reportFailed(run: RunReport, policy: Policy): GateReport {
  const { action: result } = judge('failed', policy);
  return {
    schemaVersion: 1,
    result,
    exitCode: result === 'fail' ? exitCodes.failed : exitCodes.ok,
    runs: [run],
  };
}

/**
 * Does what `runOnce` does, and starts another run if the verdict is `failed`, up to `retries` times. Nothing else is retried.
 * The runs never overlap, and all together stay within `timeoutMs`; `maxAttempts` limits the status reads of each.
 * Returns the gate's report. `start` needs keys for retries: none are started for existing runs, nor with the user's own key.
 */
export async function runWithRetries(options: RunsOptions, tools: GateTools): Promise<GateReport> {
  const { retries = 0, policy, start, intervalMs, soFar } = options;
  const { clock, emit } = tools;
  const reports = (soFar?.failed ?? []).map((run) => reportFailed(run, policy));
  const discarded = [...(soFar?.discarded ?? [])];
  let doubt = false;
  let stopped: StopCause | null = null;
  const stoppedBy = () => stopped as StopCause | null;
  const unsubscribe = tools.onStop((by) => {
    stopped ??= by;
  });
  const from = (chain: KeyChain): Start | undefined => {
    const runs = [...reports.flatMap((report) => report.runs), ...discarded];
    return start && { ...start, chain, judged: runs.flatMap(({ runId }) => runId ?? []) };
  };
  try {
    let next: Next = {
      options: { ...options, start: start && from(start.chain), retry: reports.length },
      tools,
    };
    for (;;) {
      const done = await runOr(next, reports.length);
      doubt ||= done.doubt;
      discarded.push(...(done.report.discarded ?? []));
      if (done.late === true) {
        emit?.(noTime);
        break;
      }
      reports.push(done.report);
      const run = failedRun(done.report);
      const { chain, deadline } = done;
      const leftMs = deadline - clock.monotonic();
      const retry = reports.length;
      if (run === undefined || chain === undefined || retry > retries) break;
      // Its second read would already come after the timeout.
      if (leftMs <= intervalMs) {
        emit?.(noTime);
        break;
      }
      const by = stoppedBy();
      if (by !== null && by !== 'slice') break;
      const { retryAfter } = await import('./chain.ts');
      const link = retryAfter(chain, run.runId ?? '');
      emit?.({ type: 'failed', runs: reports.flatMap(({ runs }) => runs), chain: link });
      if (by === 'slice') {
        reports.push(reportStop(nothing, by, 'none'));
        break;
      }
      const { runId, failed, blocked } = run;
      emit?.({ type: 'next-run', runId, failed, blocked, retry, retries });
      next = {
        options: { ...options, start: from(link), retry, deadline },
        tools: { ...tools, hooks: tools.hooks?.again(leftMs) },
      };
    }
  } finally {
    unsubscribe();
  }
  const report = decide(reports, policy, doubt);
  return discarded.length > 0 ? { ...report, discarded } : report;
}

interface Next {
  options: RunOptions;
  tools: GateTools;
}

/** A retry that cannot be started has an error in its report. */
async function runOr({ options, tools }: Next, earlier: number): Promise<JudgedRun> {
  try {
    return await runOnce(options, tools);
  } catch (error) {
    const { start } = options;
    if (earlier === 0 || start === undefined || !(error instanceof RungateError)) throw error;
    const known = {
      ...subjectOf(start.body),
      retry: earlier,
      idempotencyKey: error.facts.idempotencyKey ?? null,
    };
    const report = reportUncreated([known], error);
    return { report, deadline: 0, doubt: false };
  }
}
