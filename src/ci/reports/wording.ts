import { formatDuration } from '../../duration.ts';
import { exitCodes } from '../../exit.ts';
import { type GateReport, type RunReport, shownAs, shownGate } from '../../gate/report.ts';
import { excerpt } from '../../sanitize.ts';

/** Makes text that is not ours harmless where it will stand, and no longer than that. */
export type Quote = (text: string, limit: number) => string;

/** What became of one run, in words; `unobserved` is told apart from what the run itself did. */
export function describeOutcome(run: RunReport, quote: Quote = excerpt): string {
  const { failed, blocked } = run;
  switch (run.verdict) {
    case 'passed':
      return 'passed: 0 failed, 0 blocked';
    case 'failed':
      return `failed: ${failed} failed, ${blocked} blocked`;
    case 'blocked':
      return `blocked: 0 failed, ${blocked} blocked`;
    case 'cancelled':
      return 'was cancelled and has tested nothing to its end';
    case 'timeout': {
      const after = `after ${formatDuration(run.elapsedSeconds * 1000)} and ${run.attempts} reads`;
      return `had not ended ${after} (state ${quote(run.state ?? '-', 40)})`;
    }
    case 'unobserved': {
      const what = run.runId === null ? 'could not be started' : 'could not be observed';
      return `${what}: ${quote(run.error?.message ?? '', 400)}`;
    }
    case null:
      return run.runId === null
        ? `may have been created; find it by its idempotency key ${quote(run.idempotencyKey ?? '-', 200)}`
        : 'had not ended when we were stopped';
  }
}

/** Intervals that cannot be much shorter, in seconds: the service asks to be polled every 10 to 30 s, and jitter adds to it. */
const shortInterval = 12;

/** Why a wait ended before its time limit, and what to do about it. */
function lateRead(nextReadSeconds: number): string {
  const what = `the next read was due ${formatDuration(nextReadSeconds * 1000)} later, past the time limit`;
  const shorter =
    nextReadSeconds <= shortInterval
      ? ''
      : ', or read more often with a shorter --interval, unless the service asks for these waits (retryAfterSeconds)';
  return `${what}: allow more with --timeout${shorter}; --cancel-on-timeout cancels what is late`;
}

/** What to do about it; text that may not be ours. */
export function hintOf(run: RunReport): string | null {
  if (run.verdict === 'unobserved') return run.error?.hint ?? null;
  if (run.verdict === 'timeout' && run.nextReadSeconds !== undefined) return lateRead(run.nextReadSeconds);
  if (run.verdict === 'timeout')
    return 'allow more with --timeout, and with --max-attempts where it is set; --cancel-on-timeout cancels what is late';
  if (shownAs(run) !== 'warn') return null;
  const flag = run.verdict === 'cancelled' ? '--strict' : `--on ${run.verdict}=fail`;
  return `the gate lets it pass; ${flag} makes it fail`;
}

/** All that there is to say of a run, in harmless lines: what became of it, what to do, where to look. */
export function messageLines(run: RunReport): string[] {
  const hint = hintOf(run);
  return [
    `${describeRun(run)} ${describeOutcome(run)}`,
    ...(hint === null ? [] : [excerpt(hint, 400)]),
    ...(run.appUrl === null ? [] : [excerpt(run.appUrl, 2000)]),
  ];
}

/** What a report calls a run that may have no id: the same from build to build, where what it ran is known. */
export function runTitle({ name, idempotencyKey }: RunReport): string {
  if (name !== null) return excerpt(name, 200);
  return idempotencyKey === null ? 'run' : `run with the key ${excerpt(idempotencyKey, 200)}`;
}

/** A run by its name and its id, as the subject of a sentence. */
export function describeRun(
  { name, runId }: Pick<RunReport, 'name' | 'runId'>,
  quote: Quote = excerpt,
): string {
  const id = runId === null ? 'a run' : `run ${quote(runId, 80)}`;
  if (name === null || name === runId) return id;
  return runId === null ? quote(name, 200) : `${quote(name, 200)} (${id})`;
}

/** The gate in a few words, all of them ours. */
export function headline(report: GateReport): string {
  const { interruptedBy, runs } = report;
  if (interruptedBy !== undefined) return `stopped by ${interruptedBy} (exit ${report.exitCode})`;
  if (report.gate === 'fail') return `gate failed (exit ${report.exitCode})`;
  if (report.exitCode !== exitCodes.ok)
    return `the runs passed the gate, but a report could not be written (exit ${report.exitCode})`;
  const warned = runs.filter((run) => shownAs(run) === 'warn').length;
  return shownGate(report) === 'pass' ? 'gate passed' : `gate passed with ${count(warned, 'warning')}`;
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
