import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowMs } from '../../src/gate/fleet/protocol.ts';
import type { BudgetView } from '../../src/hub/budget.ts';
import { type Demand, placesOf } from '../../src/hub/places.ts';

const limits = { reads: 48, creates: 16, requests: 80 };
const now = 1_000_000;

const viewOf = (more: Partial<BudgetView> = {}): BudgetView => ({
  ...{ configured: limits, present: limits, hubs: 1, place: 0 },
  granted: { create: [], read: [], safety: [] },
  ...more,
});

/** The times at which gates send their requests of a kind for five minutes after their hubs have gone. */
function sentBy(hubs: readonly Demand[][], view: BudgetView, kind: keyof Demand): number[] {
  return hubs
    .flatMap((streams, place) => placesOf(streams, { ...view, place, hubs: hubs.length }, now))
    .flatMap(({ [kind]: { afterMs, everyMs } }, at) => {
      const { reads = 0, creates = 0 } = hubs.flat()[at] ?? {};
      const demand = kind === 'reads' ? reads + creates : creates;
      if (demand === 0) return [];
      const count = kind === 'creates' ? demand : Math.ceil((5 * 60_000) / everyMs);
      return Array.from({ length: count }, (_, turn) => now + afterMs + turn * everyMs);
    });
}

const mostInAMinute = (times: readonly number[]) =>
  Math.max(0, ...times.map((from) => times.filter((time) => time >= from && time < from + 60_000).length));

describe('the places of gates', () => {
  it('take turns, evenly spread over a minute', () => {
    const places = placesOf(
      Array.from({ length: 4 }, () => ({ reads: 1, creates: 0 })),
      viewOf({ configured: { reads: 31, creates: 16, requests: 80 } }),
      now,
    );
    expect(places.map(({ reads }) => reads)).toEqual([
      { afterMs: 0, everyMs: 8000 },
      { afterMs: 2000, everyMs: 8000 },
      { afterMs: 4000, everyMs: 8000 },
      { afterMs: 6000, everyMs: 8000 },
    ]);
  });

  it('are apart also for gates that have not created their run yet, and keep the limit of all requests', () => {
    const view = viewOf({ configured: { reads: 48, creates: 16, requests: 32 } });
    const places = placesOf(
      [
        { reads: 0, creates: 1 },
        { reads: 0, creates: 1 },
      ],
      view,
      now,
    );
    expect(places.map(({ reads }) => reads.afterMs)).toEqual([0, Math.round(windowMs / 24)]);
    expect(places.map(({ creates }) => creates.afterMs)).toEqual([0, Math.round(windowMs / 8)]);
  });

  it('begin when the minute has room for them after what was granted', () => {
    const create = Array.from({ length: 16 }, () => now - 2_000);
    const [place] = placesOf(
      [{ reads: 0, creates: 1 }],
      viewOf({ granted: { create, read: [], safety: [] } }),
      now,
    );
    expect(place?.creates.afterMs).toBe(windowMs - 2_000);
  });

  it('keep all gates together within the limits, whatever was granted before', () => {
    const demand = fc.record({ reads: fc.nat(5), creates: fc.nat(2) });
    const past = (most: number) =>
      fc
        .array(fc.nat(windowMs - 1), { maxLength: most })
        .map((ages) => ages.map((age) => now - age).sort((a, b) => a - b));
    fc.assert(
      fc.property(
        fc.array(fc.array(demand, { maxLength: 30 }), { minLength: 1, maxLength: 4 }),
        past(16),
        past(48),
        (hubs, create, read) => {
          const view = viewOf({ granted: { create, read, safety: [] } });
          expect(mostInAMinute([...create, ...sentBy(hubs, view, 'creates')])).toBeLessThanOrEqual(20);
          expect(mostInAMinute([...read, ...sentBy(hubs, view, 'reads')])).toBeLessThanOrEqual(60);
        },
      ),
    );
  });
});
