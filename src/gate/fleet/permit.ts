import { nextReadAt } from '../../client/rate-limit.ts';
import type { Clock } from '../../clock.ts';
import { eitherSignal } from '../../transport/stop.ts';
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
  past: number[],
  tools: PermitTools & { hub?: HubLink | undefined },
): Promise<boolean> {
  const { clock, hub, signal } = tools;
  if (hub === undefined) {
    past.push(clock.monotonic());
    return true;
  }
  const usual = run.progress.attempts === 0 ? 'first' : 'safety';
  await permitBefore(deadline - lastReadMs, hub, run.woken ? 'confirm' : usual, run.runId, tools);
  for (let now = clock.monotonic(), at = nextReadAt(past, now); at > now; at = nextReadAt(past, now)) {
    if (at >= deadline) return false;
    await clock.sleep(at - now, signal);
    now = clock.monotonic();
  }
  past.push(clock.monotonic());
  return true;
}

/** A create that waits longer than this for its grant gets a message, in milliseconds. */
const patienceMs = 5_000;

/** Waits for the hub's grant of a create, or until the gate is stopped. */
export async function permitCreate(
  timeoutMs: number,
  { hub, clock, signal, emit }: PermitTools & { hub?: HubLink | undefined; emit?: Emit | undefined },
): Promise<void> {
  if (hub === undefined) return;
  await hub.watch([], signal);
  const done = new AbortController();
  clock.sleep(patienceMs, done.signal).then(
    () => emit?.({ type: 'note', message: 'waiting until the hub permits the create of the run' }),
    () => {},
  );
  try {
    // Without a grant in that time the gate creates its run anyway: the service has the last word.
    await permitBefore(clock.monotonic() + timeoutMs, hub, 'create', null, { clock, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    done.abort();
  }
}
