import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RequestClass, requestClasses } from '../../src/gate/fleet/protocol.ts';
import { Budget } from '../../src/hub/budget.ts';
import type { BudgetLimits } from '../../src/hub/ledger.ts';
import { Scheduler } from '../../src/hub/scheduler.ts';
import { virtualTime } from '../virtual-time.ts';

const usual: BudgetLimits = { reads: 48, creates: 16, requests: 80 };
const never = new AbortController().signal;
setMaxListeners(0, never);

function start(limits: BudgetLimits) {
  const time = virtualTime();
  const { clock } = time;
  const budget = new Budget(null, { limits, hubs: 1, now: clock.monotonic, knowsLastMinute: true });
  const scheduler = new Scheduler(budget, clock);
  const granted: { name: string; at: number }[] = [];
  return {
    time,
    scheduler,
    granted,
    names: () => granted.map(({ name }) => name),
    ask(of: RequestClass, name: string = of, waitedMs = 0, signal = never) {
      const grant = scheduler.grant({ class: of, waitedMs }, signal);
      grant.then(
        () => granted.push({ name, at: clock.monotonic() }),
        () => {},
      );
      return grant;
    },
  };
}

describe('a scheduler', () => {
  it('grants at once while the budget has room', async () => {
    const { time, ask, names } = start(usual);
    for (const of of requestClasses) ask(of);
    await time.run(0);
    expect(names().toSorted()).toEqual([...requestClasses].toSorted());
  });

  it('grants the request that has waited longest first, also at another hub', async () => {
    const { time, ask, names } = start({ reads: 9, creates: 1, requests: 9 });
    ask('create', 'first');
    await time.run(1000);
    ask('create', 'second');
    await time.run(1000);
    ask('create', 'third');
    ask('create', 'from another hub', 30_000);
    await time.run(200_000);
    expect(names()).toEqual(['first', 'from another hub', 'second', 'third']);
  });

  it('holds a first read for 3 s while safety reads wait, and no longer than that', async () => {
    const { time, ask, granted } = start(usual);
    ask('first', 'at once');
    for (let safety = 0; safety < 3; safety += 1) ask('safety');
    await time.run(0);
    ask('first', 'held');
    ask('first', 'held by another hub', 2000);
    ask('confirm');
    const gone = new AbortController();
    const leaving = ask('first', 'gone', 0, gone.signal);
    await time.run(500);
    gone.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    await time.run(10_000);
    expect(granted.filter(({ name }) => name !== 'safety')).toEqual([
      { name: 'at once', at: 0 },
      { name: 'confirm', at: 0 },
      { name: 'held by another hub', at: 1000 },
      { name: 'held', at: 3000 },
    ]);
  });

  it('grants safety reads while other requests use all of their budget', async () => {
    const { time, ask, granted } = start(usual);
    for (let at = 0; at < 600; at += 1) {
      for (const of of ['create', 'first', 'confirm'] as const) ask(of);
      if (at % 10 === 0) ask('safety');
      await time.run(1000);
    }
    const safety = granted.filter(({ name }) => name === 'safety');
    // At least two a minute, after the first minute.
    for (let minute = 1; minute < 9; minute += 1) {
      const within = safety.filter(({ at }) => at >= minute * 60_000 && at < (minute + 1) * 60_000);
      expect(within.length).toBeGreaterThanOrEqual(2);
    }
  });

  it('grants every request once, within the limits of every minute', async () => {
    const requests = fc.array(
      fc.record({
        afterMs: fc.nat(5000),
        of: fc.constantFrom(...requestClasses),
        leavesAfterMs: fc.option(fc.nat(30_000)),
      }),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(requests, async (given) => {
        const limits = { reads: 6, creates: 3, requests: 8 };
        const { time, ask, granted, scheduler } = start(limits);
        let left = 0;
        for (const { afterMs, of, leavesAfterMs } of given) {
          await time.run(afterMs);
          const leaving = new AbortController();
          ask(of, of, 0, leaving.signal).catch(() => {
            left += 1;
          });
          if (leavesAfterMs !== null) time.at(time.clock.monotonic() + leavesAfterMs, () => leaving.abort());
        }
        await time.run(60 * 60_000);
        expect(granted.length + left).toBe(given.length);
        expect(scheduler.waiting()).toEqual({ create: 0, read: 0, safety: 0 });
        for (const { at } of granted) {
          const within = granted.filter((other) => other.at >= at && other.at < at + 60_000);
          const creates = within.filter(({ name }) => name === 'create').length;
          expect(within.length).toBeLessThanOrEqual(limits.requests);
          expect(creates).toBeLessThanOrEqual(limits.creates);
          expect(within.length - creates).toBeLessThanOrEqual(limits.reads);
        }
      }),
      { numRuns: 25 },
    );
  });
});
