import { windowMs } from '../gate/fleet/protocol.ts';
import { type BudgetStore, memoryBudget } from './budget.ts';
import type { Health } from './health.ts';
import type { SharedBudget } from './redis-budget.ts';

/**
 * Returns a budget that is shared while Redis works. Without Redis each hub goes on with its share of what was left: it
 * counts what all hubs were granted until then, and each further grant as one of each hub. Redis may come back without
 * the budget, so for a minute both Redis and the share must have room. So they must after the start, until Redis has had the
 * budget for a minute.
 */
export function failoverBudget(shared: SharedBudget, monotonic: () => number, health: Health): BudgetStore {
  let startEndsAt = monotonic() + windowMs;
  const isStarting = () => monotonic() < startEndsAt;
  /** The hubs that shared the budget before Redis failed: after it, they come back one by one. */
  let hubsBefore = 1;
  const hubs = () => Math.max(hubsBefore, shared.view().hubs);
  const local = memoryBudget(() => shared.view().configured, monotonic, { hubs, isStarting });
  let failedAt = Number.NEGATIVE_INFINITY;
  /** Grants of this hub's own share that Redis has not confirmed yet. */
  let held = 0;
  const isShared = () => held === 0 && !isStarting() && monotonic() >= failedAt + windowMs;

  const succeeded = () => {
    health.report(null);
    if (!isStarting()) return;
    const missingMs = windowMs - shared.age();
    if (missingMs <= 0) {
      startEndsAt = monotonic();
      local.add(shared.view().granted);
    } else startEndsAt = Math.max(startEndsAt, monotonic() + missingMs);
  };
  const failed = (error: unknown) => {
    health.report(error);
    if (isShared()) {
      hubsBefore = shared.view().hubs;
      local.replace(shared.view().granted);
    }
    failedAt = monotonic();
  };
  /** Returns what the call returns, or null if Redis fails. */
  const inRedis = async <Value>(call: () => Promise<Value>): Promise<Value | null> => {
    try {
      const value = await call();
      succeeded();
      return value;
    } catch (error) {
      failed(error);
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
      const each = hubs();
      const reservation = await local.reserve(line, deadline);
      if (!reservation.granted) return reservation;
      held += 1;
      const other = (await inRedis(() => shared.reserve(line, deadline))) ?? reservation;
      held -= 1;
      if (!other.granted) local.undo(line, each);
      return other;
    },
    async withdraw(line) {
      await local.withdraw(line);
      await inRedis(() => shared.withdraw(line));
    },
    async reduce(retryAfterMs) {
      await local.reduce(retryAfterMs);
      await inRedis(() => shared.reduce(retryAfterMs));
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
      return { ...local.view(), place: last.place };
    },
  };
}
