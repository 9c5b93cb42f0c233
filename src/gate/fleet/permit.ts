import { nextReadAt } from '../../client/rate-limit.ts';
import type { Clock } from '../../clock.ts';
import { eitherSignal } from '../../transport/stop.ts';
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

/**
 * Waits until the hub permits a read of the run, and until the minute has room for it, whatever the hub says. Records the
 * time of the read. Returns false if the deadline comes first.
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
  if (!(await permitBefore(deadline, hub, run.woken ? 'confirm' : usual, run.runId, tools))) return false;
  for (let now = clock.monotonic(), at = nextReadAt(past, now); at > now; at = nextReadAt(past, now)) {
    if (at >= deadline) return false;
    await clock.sleep(at - now, signal);
    now = clock.monotonic();
  }
  past.push(clock.monotonic());
  return true;
}
