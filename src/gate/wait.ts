import type { Clock } from '../clock.ts';
import { ConfigError, CredentialError, RungateError, UsageError } from '../errors.ts';
import { nextReadAt, type Slots, slotFrom } from '../http/pace.ts';
import {
  afterRead,
  atTheLimit,
  firstProgress,
  type Outcome,
  type PollRules,
  type Progress,
  type ReadResult,
} from './poll.ts';
import type { RunService } from './service.ts';

/** A run that is waited for, and all that is known of it. */
export interface WatchedRun {
  runId: string;
  progress: Progress;
  /** When it is read next, on the monotonic clock, in milliseconds. */
  due: number;
  outcome: Outcome | null;
  /** When the wait for it began and ended, on the monotonic clock. */
  startedAt: number;
  endedAt: number | null;
  appUrl: string | null;
}

/** What a wait tells as it goes; each is called in the order in which things happen. */
export interface WaitObserver {
  /** The runs that are waited for from now on. What is known of each changes in place. */
  onWatch?(runs: readonly WatchedRun[]): void;
  onRead?(run: WatchedRun, runs: readonly WatchedRun[]): void;
  onTrouble?(run: WatchedRun, error: RungateError, waitMs: number | null): void;
  onUnknownState?(run: WatchedRun, state: string): void;
}

export interface WaitTools {
  service: RunService;
  clock: Clock;
  random: () => number;
  observer?: WaitObserver;
  /** Ends the wait at once; what is known by then stays in the runs. */
  signal: AbortSignal;
}

export function watch(runId: string, now: number, appUrl: string | null = null, stretch = 1): WatchedRun {
  return {
    runId,
    progress: firstProgress(stretch),
    due: now,
    outcome: null,
    startedAt: now,
    endedAt: null,
    appUrl,
  };
}

/** One read, whatever comes of it. Errors that say nothing of the run, being found before anything is sent, are thrown. */
async function read(run: WatchedRun, rules: PollRules, tools: WaitTools): Promise<ReadResult> {
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

function apply(run: WatchedRun, result: ReadResult, rules: PollRules, tools: WaitTools): void {
  const now = tools.clock.monotonic();
  const { progress, decision } = afterRead(run.progress, result, rules, now, tools.random());
  const knownBefore = run.progress.seen?.kind !== 'running' || run.progress.seen.known;
  run.progress = progress;
  run.appUrl = progress.seen?.appUrl ?? run.appUrl;
  if ('done' in decision) {
    run.outcome = decision.done;
    run.endedAt = now;
  } else {
    run.due = now + decision.waitMs;
  }
  const { seen } = progress;
  if (!('error' in result) && seen?.kind === 'running' && !seen.known && knownBefore) {
    tools.observer?.onUnknownState?.(run, String(seen.state));
  }
}

/** When the next read is due, several runs being read in turn. */
function readAt(due: number, past: readonly number[], several: boolean, slots: Slots | undefined): number {
  // Each of a fleet's moments is for one read.
  const last = past.at(-1);
  if (slots !== undefined) {
    return slotFrom(last === undefined ? due : Math.max(due, last + slots.everyMs / 2), slots);
  }
  // One run alone is read as the service asks. Several share the limit on reads between them.
  return several ? nextReadAt(past, due) : due;
}

/**
 * Waits until every run has an outcome, reading them in turn, each when it is due. Resolves early, with
 * outcomes missing, when the signal is aborted.
 */
export async function waitForRuns(
  runs: readonly WatchedRun[],
  rules: PollRules,
  tools: WaitTools,
): Promise<void> {
  const { clock, signal, observer } = tools;
  const reads: number[] = [];
  observer?.onWatch?.(runs);
  for (;;) {
    const run = runs.filter((one) => one.outcome === null).toSorted((a, b) => a.due - b.due)[0];
    if (run === undefined || signal.aborted) return;
    const at = readAt(run.due, reads, runs.length > 1, rules.slots);
    if (at >= rules.deadline) {
      run.outcome = atTheLimit(run.progress);
      run.endedAt = clock.monotonic();
      continue;
    }
    try {
      await clock.sleep(Math.max(0, at - clock.monotonic()), signal);
      reads.push(clock.monotonic());
      const result = await read(run, rules, tools);
      apply(run, result, rules, tools);
      if ('error' in result) {
        observer?.onTrouble?.(run, result.error, run.outcome ? null : run.due - clock.monotonic());
      } else {
        observer?.onRead?.(run, runs);
      }
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
}
