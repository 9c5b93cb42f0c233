import { setMaxListeners } from 'node:events';
import { nextReadAt } from '../client/rate-limit.ts';
import type { Clock } from '../clock.ts';
import { ConfigError, CredentialError, RungateError, UsageError } from '../errors.ts';
import { eitherSignal } from '../transport/stop.ts';
import { type Slots, slotFrom } from './fleet/slots.ts';
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

/** A run as the schedule sees it. */
export interface Scheduled {
  /** When it is read next, on the monotonic clock, in milliseconds. */
  due: number;
  outcome: unknown;
}

/**
 * Returns which run is read next, and when: of those without an outcome that are not being read, the one that has been due
 * for longest. Null when there is none. Reads may overlap, and keep to the limit by when they begin.
 * @param past when earlier reads began, in order
 */
export function nextRead<Run extends Scheduled>(
  runs: readonly Run[],
  reading: ReadonlyMap<Run, unknown>,
  past: readonly number[],
  slots: Slots | undefined,
): { run: Run; at: number } | null {
  const waiting = runs.filter((run) => run.outcome === null && !reading.has(run));
  const [run] = waiting.toSorted((a, b) => a.due - b.due);
  if (run === undefined) return null;
  if (slots !== undefined) {
    // Each of a fleet's moments is for one read.
    const last = past.at(-1);
    const earliest = last === undefined ? run.due : Math.max(run.due, last + slots.everyMs / 2);
    return { run, at: slotFrom(earliest, slots) };
  }
  // One run alone is read as the service asks. Several share the limit on reads between them.
  return { run, at: runs.length > 1 ? nextReadAt(past, run.due) : run.due };
}

/** Sleeps until `at`, but no longer than until one of the reads under way has ended: that may change what comes next. */
async function untilDue(
  at: number,
  reading: Iterable<Promise<void>>,
  { clock, signal }: WaitTools,
): Promise<boolean> {
  const awake = new AbortController();
  const either = eitherSignal(awake.signal, signal);
  try {
    const due = clock.sleep(Math.max(0, at - clock.monotonic()), either.signal).then(() => true);
    const ended = [...reading].map((read) => read.then(() => false));
    // What loses the race ends by the abort.
    due.catch(() => {});
    return await Promise.race([due, ...ended]);
  } finally {
    awake.abort();
    either.release();
  }
}

/**
 * Waits until every run has an outcome, reading each when it is due; reads of several runs overlap, so a slow one does not
 * delay the others. Resolves early, with outcomes missing, when the signal is aborted.
 */
export async function waitForRuns(
  runs: readonly WatchedRun[],
  rules: PollRules,
  tools: WaitTools,
): Promise<void> {
  const { clock, signal, observer } = tools;
  const past: number[] = [];
  const reading = new Map<WatchedRun, Promise<void>>();
  const ending = new AbortController();
  const either = eitherSignal(ending.signal, signal);
  // Every read under way listens; Node would warn of the eleventh.
  setMaxListeners(0, either.signal);

  async function readOnce(run: WatchedRun): Promise<void> {
    try {
      const result = await read(run, rules, { ...tools, signal: either.signal });
      apply(run, result, rules, tools);
      if ('error' in result) {
        observer?.onTrouble?.(run, result.error, run.outcome ? null : run.due - clock.monotonic());
      } else {
        observer?.onRead?.(run, runs);
      }
    } finally {
      reading.delete(run);
    }
  }

  observer?.onWatch?.(runs);
  try {
    while (!signal.aborted) {
      const next = nextRead(runs, reading, past, rules.slots);
      if (next === null) {
        if (reading.size === 0) return;
        await Promise.race(reading.values());
      } else if (next.at >= rules.deadline) {
        next.run.outcome = atTheLimit(next.run.progress);
        next.run.endedAt = clock.monotonic();
      } else if (await untilDue(next.at, reading.values(), tools)) {
        past.push(clock.monotonic());
        reading.set(next.run, readOnce(next.run));
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    ending.abort();
    await Promise.allSettled(reading.values());
    either.release();
  }
}
