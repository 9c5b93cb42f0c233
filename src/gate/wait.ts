import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import { ConfigError, CredentialError, RungateError, UsageError } from '../errors.ts';
import { eitherSignal } from '../transport/stop.ts';
import type { Emit } from './events.ts';
import { isLimit } from './failed-read.ts';
import type { HubLink } from './fleet/hub-link.ts';
import { type Budget, newBudget, type ReadLimits, readAt, turnToRead } from './fleet/turns.ts';
import { afterRead, atTheLimit, overslept, type PollRules, type ReadResult, rulesAt } from './poll.ts';
import type { StatusReading } from './run-status.ts';
import type { RunService } from './service.ts';
import { lookAgain, type WatchedRun, wakeUps } from './watched-run.ts';

export interface WaitTools {
  service: RunService;
  clock: Clock;
  random: () => number;
  emit?: Emit | undefined;
  /** Says when reads may be sent, and which runs are worth a read now. */
  hub?: HubLink | undefined;
  /** The requests of all gates in this process; default: those of this wait. */
  budget?: Budget | undefined;
  /** Ends the wait at once. The runs keep their state. */
  signal: AbortSignal;
}

/**
 * Returns the run to read next, and when: the one that has been due longest of those that have no outcome and are not being
 * read, or null. Reads may overlap; the rate limit applies to their start times.
 */
export function nextRead<Run extends { due: number; outcome: unknown }>(
  runs: readonly Run[],
  reading: ReadonlyMap<Run, unknown>,
  limits: ReadLimits,
): { run: Run; at: number } | null {
  const waiting = runs.filter((run) => run.outcome === null && !reading.has(run));
  const [run] = waiting.toSorted((a, b) => a.due - b.due);
  return run === undefined ? null : { run, at: readAt(run.due, limits) };
}

/** Throws errors that occur before anything is sent, since they say nothing about the run. */
async function readOrError(run: WatchedRun, rules: PollRules, tools: WaitTools): Promise<ReadResult> {
  const timeoutMs = Math.max(1, rules.deadline - tools.clock.monotonic());
  try {
    return await tools.service.read(run.runId, { signal: tools.signal, timeoutMs });
  } catch (error) {
    const unsent =
      error instanceof UsageError || error instanceof ConfigError || error instanceof CredentialError;
    if (unsent || !(error instanceof RungateError) || tools.signal.aborted) throw error;
    return { error };
  }
}

function isUnknown(reading: StatusReading | null): boolean {
  return reading?.kind === 'running' && !reading.known;
}

async function readOnce(run: WatchedRun, rules: PollRules, tools: WaitTools): Promise<void> {
  const { clock, random, emit } = tools;
  const own = rulesAt(rules, clock.monotonic());
  const result = await readOrError(run, own, tools);
  const now = clock.monotonic();
  const before = run.progress.seen;
  // Reads that wake-ups have caused do not count: a hub must not exhaust the limit.
  const limits = { ...own, maxAttempts: rules.maxAttempts + run.confirmations };
  const { progress, decision } = afterRead(run.progress, result, limits, now, random());
  const { seen, attempts } = progress;
  const nextMs = 'done' in decision ? null : decision.waitMs;
  run.progress = progress;
  run.appUrl = seen?.appUrl ?? run.appUrl;
  if ('done' in decision) {
    run.outcome = decision.done;
    run.endedAt ??= now;
  } else {
    run.due = now + decision.waitMs;
  }
  const { runId, appUrl } = run;
  if ('error' in result) {
    if (isLimit(result.error)) tools.hub?.limited(result.error.retryAfterMs ?? 0);
    emit?.({ type: 'trouble', runId, error: result.error, attempts, nextMs });
    return;
  }
  const { state, failed, blocked } = result.reading;
  if (isUnknown(seen) && !isUnknown(before)) emit?.({ type: 'unknown-state', runId, state: String(state) });
  emit?.({ type: 'read', runId, state, failed, blocked, appUrl, attempts, nextMs, woken: run.readWoken });
}

function endAtLimit(run: WatchedRun, { clock }: WaitTools): void {
  run.outcome = atTheLimit(run.progress);
  run.endedAt ??= clock.monotonic();
}

async function readInTurn(
  run: WatchedRun,
  rules: PollRules,
  limits: ReadLimits & { past: number[] },
  tools: WaitTools,
): Promise<void> {
  const { clock } = tools;
  const { deadline } = rulesAt(rules, clock.monotonic());
  if (!(await turnToRead(run, deadline, limits, tools))) return endAtLimit(run, tools);
  const { woken } = run;
  run.woken = false;
  run.readWoken = woken;
  if (woken) run.confirmations += 1;
  await readOnce(run, rules, tools);
  if (run.outcome !== null || run.progress.trouble !== null) return;
  if (run.woken) run.due = clock.monotonic();
  else if (woken) lookAgain(run, rules.createdAt !== null, clock);
}

/** Sleeps until `at`, or until a change, which may change the next read. Returns whether `at` was reached. */
async function untilDue(
  at: number,
  changes: Iterable<Promise<void>>,
  { clock, signal }: WaitTools,
): Promise<boolean> {
  const awake = new AbortController();
  const either = eitherSignal(awake.signal, signal);
  try {
    const due = clock.sleep(Math.max(0, at - clock.monotonic()), either.signal).then(() => true);
    const changed = [...changes].map((change) => change.then(() => false));
    // The abort rejects the sleep if a change wins the race.
    due.catch(() => {});
    return await Promise.race([due, ...changed]);
  } finally {
    awake.abort();
    either.release();
  }
}

/**
 * Waits until every run has an outcome. Reads of several runs overlap, so a slow one does not delay the others. Resolves
 * early, with outcomes missing, if the signal is aborted.
 */
export async function waitForRuns(
  runs: readonly WatchedRun[],
  rules: PollRules,
  tools: WaitTools,
): Promise<void> {
  const { signal } = tools;
  const { reads: past } = tools.budget ?? newBudget();
  const limits = { past, limited: tools.budget !== undefined || runs.length > 1 };
  const reading = new Map<WatchedRun, Promise<void>>();
  const ending = new AbortController();
  const either = eitherSignal(ending.signal, signal);
  // Each read adds a listener, and Node would warn about the eleventh.
  setMaxListeners(0, either.signal);

  const { waking, end } = wakeUps(runs, tools);
  tools.emit?.({ type: 'watch', runs });
  try {
    void tools.hub?.watch(runs.map(({ runId }) => runId));
    while (!signal.aborted) {
      const next = nextRead(runs, reading, limits);
      const late = overslept(rules, tools.clock.monotonic());
      if (next !== null) next.run.turn = next.at;
      if (next === null) {
        if (reading.size === 0) return;
        await Promise.race(reading.values());
      } else if (next.at >= rules.deadline && !late) {
        // Until then, a wake-up may still come.
        const changes = [...reading.values(), ...waking()];
        const over = tools.hub === undefined || (await untilDue(rules.deadline, changes, tools));
        if (over && !overslept(rules, tools.clock.monotonic())) endAtLimit(next.run, tools);
      } else if (await untilDue(late ? 0 : next.at, [...reading.values(), ...waking()], tools)) {
        const { run } = next;
        const read = readInTurn(run, rules, limits, { ...tools, signal: either.signal });
        reading.set(
          run,
          read.finally(() => reading.delete(run)),
        );
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    end?.();
    ending.abort();
    await Promise.allSettled(reading.values());
    either.release();
  }
}
