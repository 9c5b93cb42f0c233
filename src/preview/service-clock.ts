import type { Caller } from '../client/caller.ts';
import { parseHttpDate } from '../client/retry.ts';
import type { Clock } from '../clock.ts';

/**
 * Returns a caller, and how far the service's clock is ahead of ours by its last response with a `Date`, in milliseconds; null before
 * the first one.
 */
export function withServiceClock(
  caller: Caller,
  { now }: Pick<Clock, 'now'>,
): { caller: Caller; aheadMs(): number | null } {
  let aheadMs: number | null = null;
  return {
    caller: {
      async exchange(...call) {
        const exchange = await caller.exchange(...call);
        const service = parseHttpDate(exchange.headers.date?.trim() ?? '');
        if (!Number.isNaN(service)) aheadMs = service - now();
        return exchange;
      },
      close: () => caller.close(),
    },
    aheadMs: () => aheadMs,
  };
}
