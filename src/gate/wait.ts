import { setMaxListeners } from 'node:events';
import { nextReadAt } from '../client/rate-limit.ts';
import type { Clock } from '../clock.ts';
import { ConfigError, CredentialError, HttpError, RungateError, UsageError } from '../errors.ts';
import { eitherSignal } from '../transport/stop.ts';
import type { Emit } from './events.ts';
import type { HubLink } from './fleet/hub-link.ts';
import { permitBefore } from './fleet/permit.ts';
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

/** A run that the gate waits for, and its state. */
export interface WatchedRun {
  runId: string;
  subject: RunSubject;
  progress: Progress;
  /** The time of its next read, on the monotonic clock, in milliseconds. */
  due: number;
  outcome: Outcome | null;
  /** The times at which the wait for it began and ended, on the monotonic clock. */
  startedAt: number;
  endedAt: number | null;
  appUrl: string | null;
  /** The key that started the run; null if this gate did not start it. */
  idempotencyKey: string | null;
  /** Whether an earlier attempt with the same key started it. */
  reattached: boolean;
  /** Wake-ups by the hub so far, and the reads that they have caused. */
  wakes: number;
  confirmations: number;
  /** The next read is one that a wake-up has caused. */
  woken: boolean;
}

export interface WaitTools {
  service: RunService;
  clock: Clock;
  random: () => number;
  emit?: Emit | undefined;
  /** Called with the runs that the gate waits for from now on. The runs change in place. */
  onWatch?: ((runs: readonly WatchedRun[]) => void) | undefined;
  /** Says when reads may be sent, and which runs are worth a read now. */
  hub?: HubLink | undefined;
  /** Ends the wait at once. The runs keep their state. */
  signal: AbortSignal;
}

/** More wake-ups of one run cause no reads: a hub cannot make a gate read without end. */
const mostWakes = 10;
/** After a read that a wake-up caused and that shows the run in progress: the delivery may have come before the status. */
const secondLookMs = 5_000;

/** Returns a run before its first read. */
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
    wakes: 0,
    confirmations: 0,
    woken: false,
    ...known,
  };
}

/**
 * Returns the run to read next, and when: the one that has been due longest of those that have no outcome and are not being
 * read, or null. Reads may overlap; the rate limit applies to their start times.
 * @param past the start times of earlier reads, in order
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
    // Each slot of a fleet is for one read.
    const last = past.at(-1);
    const earliest = last === undefined ? run.due : Math.max(run.due, last + slots.everyMs / 2);
    return { run, at: slotFrom(earliest, slots) };
  }
  // A single run is read at the intervals of the service. Several runs share the limit on reads.
  return { run, at: runs.length > 1 ? nextReadAt(past, run.due) : run.due };
}

/** Reads the status. Throws errors that occur before anything is sent, since they say nothing about the run. */
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

function isLimit(error: RungateError | null): error is HttpError {
  return error instanceof HttpError && error.status === 429;
}

/** Returns whether the service has refused the last read until a certain time. */
function asksForPatience(error: RungateError | null): boolean {
  return isLimit(error) || (error instanceof HttpError && error.retryAfterMs !== undefined);
}

function isUnknown(reading: Reading | null): boolean {
  return reading?.kind === 'running' && !reading.known;
}

/** Reads the run once and decides how to continue. */
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
    if (isLimit(result.error)) tools.hub?.limited(result.error.retryAfterMs ?? 0);
    emit?.({ type: 'trouble', runId, error: result.error, attempts, nextMs });
    return;
  }
  const { state, failed, blocked } = result.reading;
  if (isUnknown(seen) && !isUnknown(before)) emit?.({ type: 'unknown-state', runId, state: String(state) });
  emit?.({ type: 'read', runId, state, failed, blocked, appUrl, attempts, nextMs });
}

/** The time of the run is up. */
function endAtLimit(run: WatchedRun, { clock }: WaitTools): void {
  run.outcome = atTheLimit(run.progress);
  run.endedAt = clock.monotonic();
}

/**
 * Waits until the hub permits a read of the run, and until the minute has room for it, whatever the hub says. Records the
 * time of the read. Returns false if the deadline comes first.
 */
async function permitted(
  run: WatchedRun,
  { deadline }: PollRules,
  past: number[],
  tools: WaitTools,
): Promise<boolean> {
  const { clock, hub, signal } = tools;
  if (hub === undefined) {
    past.push(clock.monotonic());
    return true;
  }
  const usual = run.progress.attempts === 0 ? 'first' : 'safety';
  if (!(await permitBefore(deadline, hub, run.woken ? 'confirm' : usual, run.runId, tools))) return false;
  for (let now = clock.monotonic(), at = nextReadAt(past, now); at > now; at = nextReadAt(past, now)) {
    if (at >= deadline) return false;
    await clock.sleep(at - now, signal);
    now = clock.monotonic();
  }
  past.push(clock.monotonic());
  return true;
}

/** Reads the run as soon as that is permitted, or ends its wait at the deadline. */
async function readWhenPermitted(
  run: WatchedRun,
  rules: PollRules,
  past: number[],
  tools: WaitTools,
): Promise<void> {
  const { clock } = tools;
  if (!(await permitted(run, rules, past, tools))) return endAtLimit(run, tools);
  const { woken } = run;
  run.woken = false;
  if (woken) run.confirmations += 1;
  await readOnce(run, rules, tools);
  if (run.outcome !== null || asksForPatience(run.progress.trouble)) return;
  if (run.woken) run.due = clock.monotonic();
  else if (woken && run.confirmations < 2 * run.wakes) {
    run.woken = true;
    run.due = Math.min(run.due, clock.monotonic() + secondLookMs);
  }
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

/** Marks the runs that the hub wakes, until it is ended. `waking` returns the promise of the next wake-up, if there is a hub. */
function wakeUps(runs: readonly WatchedRun[], { hub, clock }: WaitTools) {
  let wake = () => {};
  const next = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  let waking = next();
  const end = hub?.onWake((runId) => {
    const run = runs.find((one) => one.runId === runId);
    if (run === undefined || run.outcome !== null || run.wakes >= mostWakes) return;
    run.wakes += 1;
    run.woken = true;
    // A service that asks for patience gets it.
    if (!asksForPatience(run.progress.trouble)) run.due = Math.min(run.due, clock.monotonic());
    wake();
    waking = next();
  });
  // Without a hub, a promise that never resolves would collect a callback for every read.
  return { waking: () => (hub === undefined ? [] : [waking]), end };
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
  const past: number[] = [];
  const reading = new Map<WatchedRun, Promise<void>>();
  const ending = new AbortController();
  const either = eitherSignal(ending.signal, signal);
  // Each read adds a listener, and Node would warn about the eleventh.
  setMaxListeners(0, either.signal);

  const { waking, end } = wakeUps(runs, tools);
  tools.onWatch?.(runs);
  try {
    await tools.hub?.watch(
      runs.map(({ runId }) => runId),
      signal,
    );
    while (!signal.aborted) {
      const next = nextRead(runs, reading, past, rules.slots);
      if (next === null) {
        if (reading.size === 0) return;
        await Promise.race(reading.values());
      } else if (next.at >= rules.deadline) {
        // Until then, a wake-up may still come.
        const changes = [...reading.values(), ...waking()];
        if (tools.hub === undefined || (await untilDue(rules.deadline, changes, tools)))
          endAtLimit(next.run, tools);
      } else if (await untilDue(next.at, [...reading.values(), ...waking()], tools)) {
        const { run } = next;
        const read = readWhenPermitted(run, rules, past, { ...tools, signal: either.signal });
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
