import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ceilings } from '../../src/client/rate-limit.ts';
import { windowMs } from '../../src/gate/fleet/protocol.ts';
import { Budget } from '../../src/hub/budget.ts';
import { type BudgetLimits, type RequestLine, usualBudget } from '../../src/hub/ledger.ts';

/** A budget whose time the test sets. */
function budget(limits: BudgetLimits, knowsLastMinute = true) {
  const world = { time: 0 };
  return { world, store: new Budget(null, { limits, hubs: 1, now: () => world.time, knowsLastMinute }) };
}

async function take(store: Budget, line: RequestLine): Promise<number> {
  let taken = 0;
  while ((await store.reserve(line, 0)).granted) taken += 1;
  return taken;
}

const most = (times: readonly number[]) =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length));

describe('a budget', () => {
  it('never grants more than its limits in any 62 s, and a line that waits as long as it was told gets its grant', async () => {
    const limit = fc.integer({ min: 1, max: 30 });
    const step = fc.record({
      afterMs: fc.nat(20_000),
      line: fc.constantFrom<RequestLine>('create', 'read', 'safety'),
      ahead: fc.nat(2),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.record({ reads: limit, creates: limit, requests: limit }),
        fc.array(step, { maxLength: 120 }),
        async (limits, schedule) => {
          const { world, store } = budget(limits);
          const times: Record<RequestLine, number[]> = { create: [], read: [], safety: [] };
          for (const { afterMs, line, ahead } of schedule) {
            world.time += afterMs;
            const result = await store.reserve(line, ahead);
            if (result.granted) times[line].push(world.time);
            else expect(result.retryMs).toBeGreaterThan(0);
          }
          expect(most(times.create)).toBeLessThanOrEqual(limits.creates);
          expect(most([...times.read, ...times.safety])).toBeLessThanOrEqual(limits.reads);
          expect(most(Object.values(times).flat())).toBeLessThanOrEqual(limits.requests);
        },
      ),
    );
  });

  it('is halved by a 429, and recovers in steps of 20 s after the time that the service requested', async () => {
    const { world, store } = budget(usualBudget);
    await store.reduce(10_000);
    expect(store.view().present.creates).toBe(8);
    world.time = 29_000;
    expect(store.view().present.creates).toBe(8);
    world.time = 31_000;
    expect(store.view().present).toEqual(usualBudget);
  });

  it('keeps room for the more urgent kind if requests as a whole are short', async () => {
    const { world, store } = budget({ reads: 1, creates: 1, requests: 1 });
    await store.reserve('create', 0);
    expect((await store.reserve('create', 0)).granted).toBe(false);
    world.time = windowMs;
    expect((await store.reserve('read', 1)).granted).toBe(false);
    expect(await store.reserve('create', 0)).toEqual({ granted: true });
  });

  it('allows no more than the documented limits over a restart of the only hub', async () => {
    const before = budget(usualBudget).store;
    const { world, store } = budget(usualBudget, false);
    expect((await take(before, 'create')) + (await take(store, 'create'))).toBe(ceilings.creates);
    const { reads, requests } = store.view().present;
    expect(usualBudget.reads + reads).toBe(ceilings.reads);
    expect(usualBudget.requests + requests).toBe(ceilings.all);
    world.time += windowMs;
    expect(store.view().present).toEqual(usualBudget);
  });
});
