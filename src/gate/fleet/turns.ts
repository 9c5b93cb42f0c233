import { ceilings, nextReadAt } from '../../client/rate-limit.ts';
import { type Clock, inTime } from '../../clock.ts';
import { formatDuration } from '../../duration.ts';
import { eitherSignal } from '../../transport/stop.ts';
import type { Emit } from '../events.ts';
import { lastReadMs } from '../limits.ts';
import type { WatchedRun } from '../watched-run.ts';
import type { HubLink } from './hub-link.ts';

interface TurnTools {
  hub?: HubLink | undefined;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Does the work, and aborts it at the deadline. Returns whether it was done before.
 * @param deadline on the monotonic clock
 * @throws the signal's reason when that is aborted
 */
async function doneBefore(
  deadline: number,
  work: (signal: AbortSignal) => Promise<void> | undefined,
  { clock, signal }: TurnTools,
): Promise<boolean> {
  const leftMs = Math.max(0, deadline - clock.monotonic());
  const isDone = await inTime(
    leftMs,
    async (timeUp) => {
      const either = eitherSignal(timeUp, signal);
      await Promise.resolve(work(either.signal)).finally(either.release);
      return !either.signal.aborted;
    },
    clock,
  );
  return isDone ?? false;
}

interface ReadLimits {
  /** The times of the reads so far, in order. */
  past: number[];
  /** Whether the reads share the limit of a minute. A single run is read at the intervals of the service. */
  limited: boolean;
}

/**
 * Waits until the hub grants a read of the run or the deadline is near, and until the minute has room for the read, whatever
 * the hub says. Records the time of the read. Returns false if the deadline comes first.
 */
export async function turnToRead(
  run: WatchedRun,
  deadline: number,
  { past, limited }: ReadLimits,
  tools: TurnTools,
): Promise<boolean> {
  const { hub } = tools;
  if (hub !== undefined) {
    const usual = run.attempts === 0 ? 'first' : 'safety';
    const grant = (signal: AbortSignal) => hub.granted(run.woken ? 'confirm' : usual, run.runId, signal);
    run.turnAt = Number.POSITIVE_INFINITY;
    // A last read without a grant may show the end of the run.
    await doneBefore(deadline - lastReadMs, grant, tools);
  }
  // Another gate may have used the room in the meantime.
  const dueAt = (now: number) => {
    run.turnAt = limited || hub !== undefined ? nextReadAt(past, now) : now;
    return run.turnAt;
  };
  return takeTurn(dueAt, past, deadline, tools);
}

/**
 * Sleeps until the time that `dueAt` returns, which may change meanwhile, and records the request. Returns false if that time
 * is not before the deadline.
 */
async function takeTurn(
  dueAt: (now: number) => number,
  past: number[],
  deadline: number,
  { clock, signal }: TurnTools,
): Promise<boolean> {
  for (
    let now = clock.monotonic(), next = dueAt(now);
    next > now;
    now = clock.monotonic(), next = dueAt(now)
  ) {
    if (next >= deadline) return false;
    await clock.sleep(next - now, signal);
  }
  // At once, or several waits would take the same turn.
  past.push(clock.monotonic());
  return true;
}

/** The longest silent wait for the turn to create a run, in milliseconds. */
const patienceMs = 5_000;

/**
 * Waits for the hub's grant to create a run, and for room in the minute. Returns false if they come too late, or the gate is stopped.
 * @param latest the last time at which the request may be sent, on the monotonic clock
 */
export async function turnToCreate(
  latest: number,
  tools: TurnTools & { budget?: Budget | undefined; emit?: Emit | undefined },
): Promise<boolean> {
  const { hub, budget, clock, signal, emit } = tools;
  if (clock.monotonic() >= latest) return false;
  const done = new AbortController();
  const say = (why: string) => {
    done.abort();
    emit?.({ type: 'note', message: `waiting to start the run: ${why}` });
  };
  const why = hub === undefined ? 'the limit for creating runs is reached' : 'the hub has not granted it yet';
  clock.sleep(patienceMs, done.signal).then(
    () => say(why),
    () => {},
  );
  const onAlone = (waitMs: number) => {
    if (waitMs > patienceMs && !done.signal.aborted)
      say(`without the hub, the run starts in ${formatDuration(waitMs)}`);
  };
  try {
    const grant = (either: AbortSignal) => hub?.granted('create', null, either, onAlone);
    if (hub !== undefined && !(await doneBefore(latest, grant, tools))) return false;
    if (budget === undefined) return true;
    const dueAt = (now: number) => nextReadAt(budget.creates, now, ceilings.creates);
    return await takeTurn(dueAt, budget.creates, latest, tools);
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  } finally {
    done.abort();
  }
}

/** The times of the requests that the gates of one process have sent, in order, on the monotonic clock. They share the limits. */
export interface Budget {
  readonly reads: number[];
  readonly creates: number[];
}

export const newBudget = (): Budget => ({ reads: [], creates: [] });
