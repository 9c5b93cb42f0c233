import {
  type BudgetLimits,
  type BudgetStore,
  dividedLimits,
  type MemoryBudget,
  memoryBudget,
  windowMs,
} from './budget.ts';
import type { Health } from './health.ts';

/**
 * Returns a budget that is shared while Redis works. Without Redis each hub goes on with its share: the limits divided by
 * the number of hubs that were last seen, counting what all of them were granted until then. Redis may come back without
 * the budget, so for a minute both Redis and the share must have room.
 */
export function failoverBudget(
  shared: BudgetStore,
  limits: BudgetLimits,
  monotonic: () => number,
  health: Health,
): BudgetStore {
  /** The hubs that shared the budget before Redis failed: after it, they come back one by one. */
  let hubsBefore = 1;
  const ownLimits = () => dividedLimits(limits, Math.max(1, hubsBefore, shared.view().hubs));
  const local: MemoryBudget = memoryBudget(ownLimits, monotonic);
  let sharedFrom = Number.NEGATIVE_INFINITY;
  const isShared = () => monotonic() >= sharedFrom;
  /** Returns what the call returns, or null if Redis fails. */
  const inRedis = async <Value>(call: () => Promise<Value>): Promise<Value | null> => {
    try {
      const value = await call();
      health.report(null);
      return value;
    } catch (error) {
      health.report(error);
      if (isShared()) {
        const { hubs, granted } = shared.view();
        hubsBefore = hubs;
        local.replace(granted);
      }
      sharedFrom = monotonic() + windowMs;
      return null;
    }
  };

  return {
    async reserve(line, deadline) {
      if (isShared()) {
        const reservation = await inRedis(() => shared.reserve(line, deadline));
        if (reservation === null) return local.reserve(line, deadline);
        // Another call may have failed in the meantime, and this grant came too late to be copied.
        if (reservation.granted && !isShared()) local.count(line);
        return reservation;
      }
      const reservation = await local.reserve(line, deadline);
      if (!reservation.granted) return reservation;
      const other = (await inRedis(() => shared.reserve(line, deadline))) ?? reservation;
      if (!other.granted) local.undo(line);
      return other;
    },
    async withdraw(line) {
      await local.withdraw(line);
      await inRedis(() => shared.withdraw(line));
    },
    async reduce(forMs) {
      await local.reduce(forMs);
      await inRedis(() => shared.reduce(forMs));
    },
    async report(line, agesMs) {
      await inRedis(() => shared.report(line, agesMs));
      if (!isShared()) await local.report(line, agesMs);
    },
    async present() {
      await inRedis(() => shared.present());
    },
    view() {
      const last = shared.view();
      if (isShared()) return last;
      const { present, granted } = local.view();
      return { ...last, present, hubs: Math.max(hubsBefore, last.hubs), granted };
    },
  };
}
