import { ceilings, nextReadAt } from '../../client/rate-limit.ts';
import type { Clock } from '../../clock.ts';
import { eitherSignal } from '../../transport/stop.ts';
import type { Emit } from '../events.ts';
import type { WatchedRun } from '../watched-run.ts';
import type { HubLink } from './hub-link.ts';
import type { RequestClass } from './protocol.ts';

export interface TurnTools {
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Does the work, and aborts it at the deadline. Returns whether it was done before.
 * @param deadline on the monotonic clock
 * @throws the signal's reason when that is aborted
 */
export async function doneBefore(
  deadline: number,
  work: (signal: AbortSignal) => Promise<void>,
  { clock, signal }: TurnTools,
): Promise<boolean> {
  const done = new AbortController();
  const timeUp = new AbortController();
  const either = eitherSignal(timeUp.signal, signal);
  clock.sleep(Math.max(0, deadline - clock.monotonic()), done.signal).then(
    () => timeUp.abort(),
    () => {},
  );
  try {
    await work(either.signal);
    return !either.signal.aborted;
  } catch (error) {
    if (timeUp.signal.aborted && !signal.aborted) return false;
    throw error;
  } finally {
    done.abort();
    either.release();
  }
}

/** Returns false if the deadline comes first. */
const grantedBefore = (
  deadline: number,
  hub: HubLink,
  kind: RequestClass,
  runId: string | null,
  tools: TurnTools,
): Promise<boolean> => doneBefore(deadline, (signal) => hub.granted(kind, runId, signal), tools);

/** This long before the deadline the gate no longer waits for a grant: a last read may show the end of the run. */
const lastReadMs = 10_000;

/**
 * Waits until the hub grants a read of the run or the deadline is near, and until the minute has room for the read, whatever
 * the hub says. Records the time of the read. Returns false if the deadline comes first.
 */
export async function turnToRead(
  run: WatchedRun,
  deadline: number,
  limits: ReadLimits & { past: number[] },
  tools: TurnTools & { hub?: HubLink | undefined },
): Promise<boolean> {
  const { hub } = tools;
  let readLimits: ReadLimits = limits;
  if (hub !== undefined) {
    const usual = run.progress.attempts === 0 ? 'first' : 'safety';
    run.turn = Number.POSITIVE_INFINITY;
    await grantedBefore(deadline - lastReadMs, hub, run.woken ? 'confirm' : usual, run.runId, tools);
    readLimits = { ...limits, limited: true };
  }
  // Another gate may have used the room in the meantime.
  const turnAt = (now: number) => {
    run.turn = readAt(now, readLimits);
    return run.turn;
  };
  return takeTurn(turnAt, limits.past, deadline, tools);
}

/**
 * Sleeps until the time that `turn` returns, which may change meanwhile, and records the request. Returns false if that time
 * is not before the deadline.
 */
async function takeTurn(
  turn: (now: number) => number,
  past: number[],
  deadline: number,
  { clock, signal }: TurnTools,
): Promise<boolean> {
  for (let now = clock.monotonic(), next = turn(now); next > now; now = clock.monotonic(), next = turn(now)) {
    if (next >= deadline) return false;
    await clock.sleep(next - now, signal);
  }
  // At once, or several waits would take the same turn.
  past.push(clock.monotonic());
  return true;
}

async function grantedCreate(hub: HubLink, signal: AbortSignal): Promise<void> {
  await hub.watch([], signal);
  await hub.granted('create', null, signal);
}

/** The longest silent wait for the grant to create a run, in milliseconds. */
const patienceMs = 5_000;

export interface CreateTurnTools extends TurnTools {
  hub?: HubLink | undefined;
  budget?: Budget | undefined;
  emit?: Emit | undefined;
}

/**
 * Waits for the hub's grant to create a run, and for room in the minute. Returns false if they come too late, or the gate is stopped.
 * @param latest the last time at which the request may be sent, on the monotonic clock
 */
export async function turnToCreate(
  latest: number,
  { hub, budget, clock, signal, emit }: CreateTurnTools,
): Promise<boolean> {
  if (clock.monotonic() >= latest) return false;
  if (hub === undefined && budget === undefined) return true;
  const done = new AbortController();
  const why = hub === undefined ? 'the limit of creates is reached' : 'the hub has not granted it yet';
  const message = `waiting to start the run: ${why}`;
  clock.sleep(patienceMs, done.signal).then(
    () => emit?.({ type: 'note', message }),
    () => {},
  );
  try {
    if (
      hub !== undefined &&
      !(await doneBefore(latest, (either) => grantedCreate(hub, either), { clock, signal }))
    )
      return false;
    if (budget === undefined) return true;
    return await takeTurn((now) => createAt(now, budget), budget.creates, latest, { clock, signal });
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

export interface ReadLimits {
  /** The times of earlier reads, in order. */
  past: readonly number[];
  /** Whether the reads share the limit of a minute. A single run is read at the intervals of the service. */
  limited: boolean;
}

export const readAt = (due: number, { past, limited }: ReadLimits) => (limited ? nextReadAt(past, due) : due);

export const createAt = (now: number, { creates }: Budget) => nextReadAt(creates, now, ceilings.creates);
