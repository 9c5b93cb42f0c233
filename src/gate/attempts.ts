import { RungateError } from '../errors.ts';
import { exitCodes, mostSevere } from '../exit.ts';
import { type Attempt, type AttemptOptions, type GateTools, runAttempt } from './gate.ts';
import type { Policy } from './policy.ts';
import { reportFlaky, reportGate, reportUncreated, worst } from './report.ts';
import type { DiscardedRun, GateReport, RunReport } from './result-types.ts';
import { subjectOf } from './watched-run.ts';

export interface AttemptsOptions extends Omit<AttemptOptions, 'retry'> {
  /** How many runs to start after the first one, each only if the last run has the verdict `failed`; default 0. */
  retries?: number | undefined;
}

/**
 * Returns the report that decides the gate. `doubt`: a run that was discarded failed, and may have been the gate's. A later pass makes it flaky. Otherwise the worst report decides, the last of equals:
 * only a pass makes up for a failed run, so no policy for another verdict can let it pass.
 */
export function decide(attempts: readonly GateReport[], policy: Policy, doubt = false): GateReport {
  const last = attempts.at(-1);
  // Callers refuse an empty list. If one does not, the gate fails.
  if (last === undefined) return reportGate([], policy, 0);
  if (last.interruptedBy !== undefined) return last;
  const passed = last.runs.length > 0 && last.runs.every(({ verdict }) => verdict === 'passed');
  if (passed) return attempts.length === 1 && !doubt ? last : reportFlaky(last, policy);
  return attempts.reduce((decisive, next) => {
    if (decisive.result !== next.result)
      return worst([decisive.result, next.result]) === next.result ? next : decisive;
    return mostSevere([decisive.exitCode, next.exitCode]) === next.exitCode ? next : decisive;
  });
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
  const result = policy.failed;
  return {
    schemaVersion: 1,
    result,
    exitCode: result === 'fail' ? exitCodes.failed : exitCodes.ok,
    runs: [run],
  };
}

/**
 * Does what `runAttempt` does, and starts another run if the verdict is `failed`, up to `retries` times. Nothing else is retried.
 * The runs never overlap, and all together stay within `timeoutMs`; `maxAttempts` limits the status reads of each.
 * Returns the gate with its final verdict. `start` needs keys for retries: none are started for existing runs, nor with a key of the user's.
 */
export async function runAttempts(options: AttemptsOptions, tools: GateTools): Promise<GateReport> {
  const { retries = 0, policy, start, intervalMs } = options;
  if (retries === 0 || start === undefined) {
    const { report, doubt } = await runAttempt(options, tools);
    return decide([report], policy, doubt);
  }
  const { clock, emit } = tools;
  const attempts: GateReport[] = [];
  let stopped = false;
  const discarded: DiscardedRun[] = [];
  let doubt = false;
  const unsubscribe = tools.onStop(() => {
    stopped = true;
  });
  try {
    let next: Next = { options, tools };
    for (;;) {
      const attempt = await runOr(next, attempts.length);
      doubt ||= attempt.doubt;
      discarded.push(...(attempt.report.discarded ?? []));
      if (attempt.late === true) {
        emit?.(noTime);
        break;
      }
      attempts.push(...attempt.failed.map((run) => reportFailed(run, policy)), attempt.report);
      const run = failedRun(attempt.report);
      const { keys, deadline } = attempt;
      const leftMs = deadline - clock.monotonic();
      const retry = attempts.length;
      if (run === undefined || stopped || retry > retries || keys.length === 0) break;
      // Its second read would already come after the timeout.
      if (leftMs <= intervalMs) {
        emit?.(noTime);
        break;
      }
      const { runId, failed, blocked } = run;
      emit?.({ type: 'rerun', runId, failed, blocked, retry, retries });
      const judged = attempts.flatMap(({ runs }) => runs.flatMap((known) => known.runId ?? []));
      next = {
        options: { ...options, start: { ...start, keys, judged }, retry: { number: retry, deadline } },
        tools: { ...tools, hooks: tools.hooks?.again(leftMs) },
      };
    }
  } finally {
    unsubscribe();
  }
  const report = summary(attempts, policy, doubt);
  return discarded.length > 0 ? { ...report, discarded } : report;
}

interface Next {
  options: AttemptOptions;
  tools: GateTools;
}

/** A retry that cannot be started has an error in its report. */
async function runOr({ options, tools }: Next, earlier: number): Promise<Attempt> {
  try {
    return await runAttempt(options, tools);
  } catch (error) {
    const { start } = options;
    if (earlier === 0 || start === undefined || !(error instanceof RungateError)) throw error;
    const known = {
      ...subjectOf(start.body),
      retry: earlier,
      idempotencyKey: error.facts.idempotencyKey ?? null,
    };
    const report = reportUncreated([known], error);
    return { report, failed: [], keys: [], deadline: 0, doubt: false };
  }
}

function summary(attempts: readonly GateReport[], policy: Policy, doubt: boolean): GateReport {
  const decisive = decide(attempts, policy, doubt);
  const runs = attempts.flatMap((report) => report.runs);
  return {
    ...decisive,
    // A stop before the create of a retry leaves the runs so far.
    runs: decisive.runs.length === 0 ? runs.slice(-1) : decisive.runs,
    attempts: runs,
  };
}
