import { setMaxListeners } from 'node:events';
import { nextReadAt } from '../client/rate-limit.ts';
import type { Clock } from '../clock.ts';
import { ConfigError, CredentialError, RungateError, UsageError } from '../errors.ts';
import { eitherSignal } from '../transport/stop.ts';
import type { Emit } from './events.ts';
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
import type { Reading } from './run-status.ts';
import type { RunService } from './service.ts';
import { named, type RunSubject } from './subject.ts';

/** A run that is waited for, and all that is known of it. */
export interface WatchedRun {
  runId: string;
  subject: RunSubject;
  progress: Progress;
  /** When it is read next, on the monotonic clock, in milliseconds. */
  due: number;
  outcome: Outcome | null;
  /** When the wait for it began and ended, on the monotonic clock. */
  startedAt: number;
  endedAt: number | null;
  appUrl: string | null;
  /** Of a run that this gate has started; null otherwise. */
  idempotencyKey: string | null;
  /** An earlier attempt with the same key had started it. */
  reattached: boolean;
}

export interface WaitTools {
  service: RunService;
  clock: Clock;
  random: () => number;
  emit?: Emit | undefined;
  /** Given the runs that are waited for from now on. What is known of each changes in place. */
  onWatch?: ((runs: readonly WatchedRun[]) => void) | undefined;
  /** Ends the wait at once; what is known by then stays in the runs. */
  signal: AbortSignal;
}

/** A run of which nothing is known yet but `known`. */
export function watch(runId: string, now: number, known: Partial<WatchedRun> = {}): WatchedRun {
  return {
    runId,
    subject: named(),
    progress: firstProgress(),
    due: now,
    outcome: null,
    startedAt: now,
    endedAt: null,
    appUrl: null,
    idempotencyKey: null,
    reattached: false,
    ...known,
  };
}

/**
 * Returns which run is read next, and when: of those without an outcome that are not being read, the one that has been due
 * for longest. Null when there is none. Reads may overlap, and keep to the limit by when they begin.
 * @param past when earlier reads began, in order
 */
export function nextRead<Run extends { due: number; outcome: unknown }>(
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

/** Errors that say nothing of the run, being found before anything is sent, are thrown. */
async function readStatus(run: WatchedRun, rules: PollRules, tools: WaitTools): Promise<ReadResult> {
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

function isUnknown(reading: Reading | null): boolean {
  return reading?.kind === 'running' && !reading.known;
}

/** Reads the run once, whatever comes of it, and decides what follows. */
async function readOnce(run: WatchedRun, rules: PollRules, tools: WaitTools): Promise<void> {
  const { clock, random, emit } = tools;
  const result = await readStatus(run, rules, tools);
  const now = clock.monotonic();
  const before = run.progress.seen;
  const { progress, decision } = afterRead(run.progress, result, rules, now, random());
  const { seen, attempts } = progress;
  const nextMs = 'done' in decision ? null : decision.waitMs;
  run.progress = progress;
  run.appUrl = seen?.appUrl ?? run.appUrl;
  if ('done' in decision) {
    run.outcome = decision.done;
    run.endedAt = now;
  } else {
    run.due = now + decision.waitMs;
  }
  const { runId, appUrl } = run;
  if ('error' in result) {
    emit?.({ type: 'trouble', runId, error: result.error, attempts, nextMs });
    return;
  }
  const { state, failed, blocked } = result.reading;
  if (isUnknown(seen) && !isUnknown(before)) emit?.({ type: 'unknown-state', runId, state: String(state) });
  emit?.({ type: 'read', runId, state, failed, blocked, appUrl, attempts, nextMs });
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
  const { clock, signal } = tools;
  const past: number[] = [];
  const reading = new Map<WatchedRun, Promise<void>>();
  const ending = new AbortController();
  const either = eitherSignal(ending.signal, signal);
  // Every read under way listens; Node would warn of the eleventh.
  setMaxListeners(0, either.signal);

  tools.onWatch?.(runs);
  try {
    while (!signal.aborted) {
      const next = nextRead(runs, reading, past, rules.slots);
      if (next === null) {
        if (reading.size === 0) return;
        await Promise.race(reading.values());
      } else if (next.at >= rules.deadline) {
        const now = clock.monotonic();
        next.run.outcome = atTheLimit(next.run.progress, next.at - now);
        next.run.endedAt = now;
      } else if (await untilDue(next.at, reading.values(), tools)) {
        const { run } = next;
        past.push(clock.monotonic());
        const read = readOnce(run, rules, { ...tools, signal: either.signal });
        reading.set(
          run,
          read.finally(() => reading.delete(run)),
        );
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
