import type { Clock } from '../../clock.ts';
import { eitherSignal } from '../../transport/stop.ts';
import type { HubLink } from './hub-link.ts';
import type { RequestClass } from './hub-protocol.ts';

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
  { clock, signal }: { clock: Clock; signal: AbortSignal },
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
