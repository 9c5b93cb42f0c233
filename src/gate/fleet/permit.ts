import type { Clock } from '../../clock.ts';
import { eitherSignal } from '../../transport/stop.ts';
import { type Budget, createAt, type ReadLimits, readNowAt } from '../budget.ts';
import type { Emit } from '../events.ts';
import type { WatchedRun } from '../watched-run.ts';
import type { HubLink } from './hub-link.ts';
import type { RequestClass } from './hub-protocol.ts';

export interface PermitTools {
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Waits until the hub permits a request. Returns false if the deadline comes first.
 * @param deadline on the monotonic clock
 * @throws the signal's reason when that is aborted
 */
export async function permitBefore(
  deadline: number,
  hub: HubLink,
  of: RequestClass,
  runId: string | null,
  { clock, signal }: PermitTools,
): Promise<boolean> {
  const done = new AbortController();
  const timeUp = new AbortController();
  const either = eitherSignal(timeUp.signal, signal);
  clock.sleep(Math.max(0, deadline - clock.monotonic()), done.signal).then(
    () => timeUp.abort(),
    () => {},
  );
  try {
    await hub.permit(of, runId, either.signal);
    return true;
  } catch (error) {
    if (timeUp.signal.aborted && !signal.aborted) return false;
    throw error;
  } finally {
    done.abort();
    either.release();
  }
}

/** This long before the deadline the gate no longer waits for a permit: a last read may show the end of the run. */
const lastReadMs = 10_000;

/**
 * Waits until the hub permits a read of the run or the deadline is near, and until the minute has room for the read, whatever
 * the hub says. Records the time of the read. Returns false if the deadline comes first.
 */
export async function permitRead(
  run: WatchedRun,
  deadline: number,
  limits: ReadLimits & { past: number[] },
  tools: PermitTools & { hub?: HubLink | undefined },
): Promise<boolean> {
  const { hub } = tools;
  let own: ReadLimits = limits;
  if (hub !== undefined) {
    const usual = run.progress.attempts === 0 ? 'first' : 'safety';
    run.turn = Number.POSITIVE_INFINITY;
    await permitBefore(deadline - lastReadMs, hub, run.woken ? 'confirm' : usual, run.runId, tools);
    own = { ...limits, slots: undefined, limited: true };
  }
  // Another gate may have used the room in the meantime.
  const at = (now: number) => {
    run.turn = readNowAt(now, own);
    return run.turn;
  };
  return takeTurn(at, limits.past, deadline, tools);
}

/**
 * Sleeps until the time that `at` returns, which may change meanwhile, and records the request. Returns false if that time is
 * not before the deadline.
 */
async function takeTurn(
  at: (now: number) => number,
  past: number[],
  deadline: number,
  { clock, signal }: PermitTools,
): Promise<boolean> {
  for (let now = clock.monotonic(), next = at(now); next > now; now = clock.monotonic(), next = at(now)) {
    if (next >= deadline) return false;
    await clock.sleep(next - now, signal);
  }
  // At once, or several waits would take the same turn.
  past.push(clock.monotonic());
  return true;
}

/** A create that waits longer than this for its grant gets a message, in milliseconds. */
const patienceMs = 5_000;

export interface CreatePermitTools extends PermitTools {
  hub?: HubLink | undefined;
  budget?: Budget | undefined;
  emit?: Emit | undefined;
}

/**
 * Waits for the hub's grant of a create and for room in the minute, or until the gate is stopped. Returns false if the room
 * comes after the deadline.
 * @param timeoutMs the longest wait for the hub: the service has the last word
 * @param deadline on the monotonic clock; default: none, since the process has sent the creates before this one
 */
export async function permitCreate(
  timeoutMs: number,
  { hub, budget, clock, signal, emit }: CreatePermitTools,
  deadline = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  if (hub === undefined && budget === undefined) return true;
  await hub?.watch([], signal);
  const done = new AbortController();
  const why = hub === undefined ? 'the limit of creates is reached' : 'the hub has not permitted it yet';
  const message = `waiting to start the run: ${why}`;
  clock.sleep(patienceMs, done.signal).then(
    () => emit?.({ type: 'note', message }),
    () => {},
  );
  try {
    // Without a grant in that time the gate creates its run anyway.
    if (hub !== undefined)
      await permitBefore(clock.monotonic() + timeoutMs, hub, 'create', null, { clock, signal });
    if (budget === undefined) return true;
    return await takeTurn((now) => createAt(now, budget), budget.creates, deadline, { clock, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  } finally {
    done.abort();
  }
}
