import { ceilings } from '../client/rate-limit.ts';
import type { Clock } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import { HttpError, RungateError, type StopCause, StoppedError, UsageError } from '../errors.ts';
import type { CreatedRun } from './create.ts';
import { type Fleet, fleetCreates, fleetSlots, type Slots, slotFrom } from './fleet/slots.ts';
import type { Policy } from './policy.ts';
import { endedAtFirstLook, stretchAfter } from './poll.ts';
import {
  type Cancellation,
  type GateReport,
  type RunOrigin,
  type RunReport,
  reportGate,
  reportStop,
} from './report.ts';
import type { RunService } from './service.ts';
import { type DiscardedRun, type RunJournal, type Start, startRun } from './start.ts';
import { type WaitObserver, type WatchedRun, waitForRuns, watch } from './wait.ts';

export interface GateOptions {
  /** The run to create and wait for; or else `runIds`. */
  start?: Start | undefined;
  runIds?: readonly string[] | undefined;
  policy: Policy;
  intervalMs: number;
  maxAttempts: number;
  timeoutMs: number;
  /** What the service asks for between two reads counts as this at least. */
  shortestMs: number;
  /** The gate's place among others that share the service's limits, where it is known. */
  fleet?: Fleet | undefined;
  cancelOnInterrupt: boolean;
  cancelOnTimeout: boolean;
  /** What the service is told when a run is cancelled. */
  cancelReason(why: StopCause | 'timeout'): string | Promise<string>;
}

export interface GateObserver extends WaitObserver {
  /** The create waits for its turn in the fleet. */
  onTurn?(waitMs: number): void;
  onCreated?(run: CreatedRun, reattached: boolean): void;
  onCreateRetry?(error: unknown, waitMs: number): void;
  /** The run had ended before its first status read, and may be another job's: another one is started. */
  onDiscarded?(run: DiscardedRun): void;
  onStopping?(signal: StopCause): void;
  onCancelled?(runId: string, error: RungateError | null): void;
}

export interface GateTools {
  service: RunService;
  clock: Clock;
  random: () => number;
  observer?: GateObserver;
  onStop(stop: (signal: StopCause) => void): () => void;
  journal?: RunJournal | undefined;
}

/** A stop takes 5 s at most: the rest is for noticing it (a lost parent shows late) and for the report. */
const stopBudgetMs = 4_400;
const cancelTimeoutMs = 15_000;

/** Creates a run if asked to, waits for all runs, and judges them. Throws when no run could be created. */
export async function runGate(options: GateOptions, tools: GateTools): Promise<GateReport> {
  const { clock, observer } = tools;
  const stop = new AbortController();
  let stopped: { signal: StopCause; at: number } | null = null;
  const unsubscribe = tools.onStop((signal) => {
    stopped = { signal, at: clock.monotonic() };
    observer?.onStopping?.(signal);
    stop.abort(new StoppedError(signal));
  });
  try {
    // Places are counted by the wall clock, which the gates of a fleet have in common.
    const offset = clock.now() - clock.monotonic();
    const creates = options.fleet && fleetCreates(options.fleet, offset);
    if (options.start !== undefined && creates !== undefined) {
      checkTurn(options.fleet, creates, options.timeoutMs);
      await turn(creates, stop.signal, tools);
    }
    const startedAt = clock.monotonic();
    const deadline = startedAt + options.timeoutMs;
    const origins = new Map<string, RunOrigin>();
    const slots = options.fleet && fleetSlots(options.fleet, ceilings.reads, offset);
    const rules = { ...options, deadline, triggered: options.start !== undefined, slots };
    let runs: WatchedRun[] = (options.runIds ?? []).map((runId) => watch(runId, startedAt));
    const wait = () => waitForRuns(runs, rules, { ...tools, signal: stop.signal });
    let lost: RunReport | null = null;
    let discarded: DiscardedRun[] = [];

    if (options.start === undefined) {
      await wait();
    } else if (!stop.signal.aborted) {
      let limitedMs = 0;
      const started = await startRun(options.start, options.timeoutMs, {
        ...tools,
        stop: stop.signal,
        onRetry(error, waitMs) {
          if (error instanceof HttpError && error.status === 429) limitedMs += waitMs;
          observer?.onCreateRetry?.(error, waitMs);
        },
        onDiscarded: observer?.onDiscarded,
        async endedAtFirstLook({ step, run: created, reattached, doubtful }) {
          observer?.onCreated?.(created, reattached);
          // A gate with moments of its own is spread already.
          const stretch = slots === undefined ? stretchAfter(limitedMs, options.intervalMs) : 1;
          const run = { ...watch(created.runId, clock.monotonic(), created.appUrl, stretch), startedAt };
          runs = [run];
          origins.set(run.runId, { idempotencyKey: step.key, reattached });
          await wait();
          const foreign = doubtful && endedAtFirstLook(run);
          if (foreign) runs = [];
          return foreign;
        },
      });
      discarded = started.discarded;
      if (started.kind === 'unknown') lost = unknownRun(started.step.key, clock.monotonic() - startedAt);
    }
    for (const { runId, progress } of runs)
      if (progress.seen?.kind === 'ended') tools.journal?.settled(runId);

    const report = () => reportGate(runs, origins, options.policy, clock.monotonic(), discarded);
    const unfinished = runs.filter((run) => run.outcome === null);
    const by = stopped as { signal: StopCause; at: number } | null;
    if (by !== null && (unfinished.length > 0 || runs.length === 0)) {
      const left = by.at + stopBudgetMs - clock.monotonic();
      const asked = options.cancelOnInterrupt
        ? await cancelAll(unfinished, await options.cancelReason(by.signal), left, tools)
        : 'none';
      // The service accepted the cancellation: the post step need not repeat it.
      if (asked === 'requested') for (const { runId } of unfinished) tools.journal?.settled(runId);
      const stopReport = reportStop(report(), by.signal, lost === null ? asked : 'failed');
      return lost === null ? stopReport : { ...stopReport, runs: [lost] };
    }
    if (options.cancelOnTimeout) {
      const late = runs.filter((run) => run.outcome !== null && run.outcome.limit === true);
      if (late.length > 0) await cancelLate(late, await options.cancelReason('timeout'), stop.signal, tools);
    }
    return report();
  } finally {
    unsubscribe();
  }
}

/** Refuses a fleet in which a gate may wait for its turn for longer than `--timeout`: every wait ends at a limit that the user sets. */
function checkTurn(fleet: Fleet | undefined, { everyMs }: Slots, timeoutMs: number): void {
  if (everyMs <= timeoutMs) return;
  const [turnText, timeoutText] = [formatDuration(everyMs), formatDuration(timeoutMs)];
  throw new UsageError(
    `a fleet of ${fleet?.size} is too large for the timeout of ${timeoutText}: a gate may wait ${turnText} for its turn`,
    { hint: 'set a longer --timeout, or a smaller --fleet-size if fewer gates share the service' },
  );
}

/** Waits for the gate's moment to create; the time that a run may take begins after it. */
async function turn(slots: Slots, stop: AbortSignal, { clock, observer }: GateTools): Promise<void> {
  const waitMs = slotFrom(clock.monotonic(), slots) - clock.monotonic();
  observer?.onTurn?.(waitMs);
  try {
    await clock.sleep(waitMs, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

/** Cancels runs whose time is up. A stop meanwhile leaves it no more time than any stop takes. */
async function cancelLate(
  runs: readonly WatchedRun[],
  reason: string,
  stop: AbortSignal,
  tools: GateTools,
): Promise<void> {
  const timeUp = new AbortController();
  const done = new AbortController();
  const onStop = () => {
    tools.clock.sleep(stopBudgetMs, done.signal).then(
      () => timeUp.abort(stop.reason),
      () => {},
    );
  };
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    await cancelAll(runs, reason, cancelTimeoutMs, tools, timeUp.signal);
  } finally {
    done.abort();
    stop.removeEventListener('abort', onStop);
  }
}

async function cancelAll(
  runs: readonly WatchedRun[],
  reason: string,
  timeoutMs: number,
  tools: GateTools,
  signal?: AbortSignal,
): Promise<Cancellation> {
  if (runs.length === 0) return 'none';
  const done = await Promise.all(
    runs.map(async ({ runId }) => {
      try {
        await tools.service.cancel(runId, reason, { timeoutMs: Math.max(1, timeoutMs), signal });
        tools.observer?.onCancelled?.(runId, null);
        return true;
      } catch (error) {
        if (!(error instanceof RungateError)) throw error;
        tools.observer?.onCancelled?.(runId, error);
        return false;
      }
    }),
  );
  return done.every(Boolean) ? 'requested' : 'failed';
}

/** A run that may have been created before we were stopped: its key is the way to find it again. */
function unknownRun(idempotencyKey: string, elapsedMs: number): RunReport {
  return {
    runId: null,
    state: null,
    verdict: null,
    gate: 'fail',
    failed: null,
    blocked: null,
    appUrl: null,
    attempts: 0,
    elapsedSeconds: Math.round(elapsedMs) / 1000,
    idempotencyKey,
    reattached: false,
  };
}
