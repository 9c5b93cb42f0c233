import { count } from '../../count.ts';
import { formatDuration } from '../../duration.ts';
import { exitCodes } from '../../exit.ts';
import { shownAs } from '../../gate/policy.ts';
import { decidingRuns, isSkipped, shownGate } from '../../gate/report.ts';
import type { GateReport, RunReport } from '../../gate/result-types.ts';
import { excerpt } from '../../sanitize.ts';

/** Makes untrusted text harmless in one format, and truncates it. */
export type Quote = (text: string, limit: number) => string;

/** Returns the outcome of a run as the predicate of a sentence. */
export function describeOutcome(run: RunReport, quote: Quote = excerpt): string {
  const { failed, blocked } = run;
  switch (run.verdict) {
    case 'passed':
      return 'passed: 0 failed, 0 blocked';
    case 'flaky':
      return run.retry === undefined
        ? 'passed: 0 failed, 0 blocked; but a discarded run, possibly the first of this gate, had not passed'
        : `passed only on retry ${run.retry}, after a failed run: 0 failed, 0 blocked`;
    case 'failed':
      return `failed: ${failed} failed, ${blocked} blocked`;
    case 'blocked':
      return `blocked: 0 failed, ${blocked} blocked`;
    case 'cancelled':
      return 'was cancelled before it finished';
    case 'timeout': {
      if (run.runId === null) return `was not started: ${quote(run.error?.message ?? '', 400)}`;
      const after = `after ${formatDuration(run.elapsedSeconds * 1000)} and ${count(run.attempts, 'status read')}`;
      return `had not ended ${after} (state ${quote(run.state ?? '-', 40)})`;
    }
    case 'unobserved': {
      const what = run.runId === null ? 'could not be started' : 'could not be observed';
      return `${what}: ${quote(run.error?.message ?? '', 400)}`;
    }
    case 'mismatch': {
      const counts = failed === null ? '' : ` (${failed} failed, ${blocked} blocked)`;
      const what = run.runId === null ? 'was not started' : 'did not test only the expected build';
      return `${what}: ${quote(run.error?.message ?? '', 400)}${counts}`;
    }
    case null:
      if (isSkipped(run)) return `was skipped: ${quote(run.error?.message ?? '', 400)}`;
      return run.runId === null
        ? `may have been created; find it by its idempotency key ${quote(run.idempotencyKey ?? '-', 200)}`
        : run.state === 'completed' || run.state === 'cancelled'
          ? 'has ended, but rungate was stopped before it had checked the deployed build'
          : run.error?.code === 'stopped'
            ? `had not ended: ${quote(run.error.message, 400)}`
            : 'had not ended when rungate was stopped';
  }
}

/** The longest interval, in seconds, that cannot be shortened much: the service recommends 10 to 30 s, and jitter adds to it. */
const shortInterval = 12;

/** Returns why a wait ended at its limit, if that is not plain, and what to do about it. */
function limitHint({ attempts, attemptsExhausted, nextReadSeconds }: RunReport): string {
  if (attemptsExhausted)
    return `the limit of ${count(attempts, 'status read')} was reached: increase --max-attempts, or use --timeout instead`;
  if (nextReadSeconds === undefined) return 'increase --timeout';
  const what = `the next status read was planned ${formatDuration(nextReadSeconds * 1000)} later, after the deadline`;
  const shorter =
    nextReadSeconds <= shortInterval
      ? ''
      : ', or read more often with a shorter --interval, unless the service requests these intervals (retryAfterSeconds)';
  return `${what}: increase --timeout${shorter}`;
}

/** Returns what to do about the outcome, or null; the text may come from the service. */
export function hintOf(run: RunReport): string | null {
  if (run.verdict === 'unobserved' || (run.verdict === 'mismatch' && shownAs(run) === 'fail'))
    return run.error?.hint ?? null;
  if (run.verdict === 'timeout' && run.runId === null) return run.error?.hint ?? null;
  if (run.verdict === 'timeout')
    return `${limitHint(run)}${run.cancellation === undefined ? '; --cancel-on-timeout cancels a run that times out' : ''}`;
  if (shownAs(run) !== 'warn') return null;
  if (run.advisory === true) return 'the gate is advisory: it warns instead of failing';
  return `the gate lets it pass; --on ${run.verdict}=fail makes it fail`;
}

/** Returns the next step after a gate that failed: the remedy, or where to see what failed; null if it passed. */
export function nextStep(report: GateReport): string | null {
  const run = decidingRuns(report).find((run) => shownAs(run) === 'fail' && !isSkipped(run));
  if (report.exitCode === exitCodes.ok || run === undefined) return null;
  const { runId, appUrl, verdict } = run;
  const what = { failed: 'what failed', flaky: 'what failed', blocked: 'what was blocked' } as const;
  const subject = Object.hasOwn(what, verdict ?? '') ? what[verdict as keyof typeof what] : 'the run';
  const page = appUrl ?? (runId === null ? null : `rungate run status ${runId}`);
  return run.error?.hint ?? hintOf(run) ?? (page && `see ${subject}: ${page}`);
}

/** Returns the runs of the same gate that do not decide it. */
export function othersOf(run: RunReport, { runs }: GateReport): RunReport[] {
  return runs.filter(({ name, decides }) => name === run.name && decides === false);
}

export function describeOther(run: RunReport, quote: Quote = excerpt): string {
  const which = run.retry === undefined ? 'first run' : `retry ${run.retry}`;
  return `${which}: ${describeRun({ name: null, runId: run.runId }, quote)} ${describeOutcome(run, quote)}`;
}

/**
 * Returns the message about a run in harmless lines: its outcome, the hint, the address, and the other runs of a gate with
 * retries.
 */
export function messageLines(run: RunReport, others: readonly RunReport[] = []): string[] {
  const hint = hintOf(run);
  return [
    `${describeRun(run)} ${describeOutcome(run)}`,
    ...(hint === null ? [] : [excerpt(hint, 400)]),
    ...(run.appUrl === null ? [] : [excerpt(run.appUrl, 2000)]),
    ...others.map((other) => describeOther(other)),
  ];
}

/** Returns the title of a run, which may have no id. If its project and process are known, it is the same in every build. */
export function runTitle({ name, idempotencyKey }: RunReport): string {
  if (name !== null) return excerpt(name, 200);
  return idempotencyKey === null ? 'run' : `run with the key ${excerpt(idempotencyKey, 200)}`;
}

/** Returns a run's name and id as the subject of a sentence. */
export function describeRun(
  { name, runId }: Pick<RunReport, 'name' | 'runId'>,
  quote: Quote = excerpt,
): string {
  const id = runId === null ? 'a run' : `run ${quote(runId, 80)}`;
  if (name === null || name === runId) return id;
  return runId === null ? quote(name, 200) : `${quote(name, 200)} (${id})`;
}

/** Returns the result of the gate in a few words, without any text from the service. */
export function headline(report: GateReport): string {
  const { interruptedBy } = report;
  const runs = decidingRuns(report);
  if (interruptedBy !== undefined) return `stopped by ${interruptedBy} (exit ${report.exitCode})`;
  if (runs.length > 0 && runs.every(({ verdict }) => verdict === null))
    return runs.every(isSkipped) ? 'gate skipped' : 'gate stopped';
  if (report.result === 'fail') return `gate failed (exit ${report.exitCode})`;
  if (report.exitCode !== exitCodes.ok)
    return `the runs passed the gate, but a report could not be written (exit ${report.exitCode})`;
  const warned = runs.filter((run) => shownAs(run) === 'warn').length;
  return shownGate(report) === 'pass' ? 'gate passed' : `gate passed with ${count(warned, 'warning')}`;
}
