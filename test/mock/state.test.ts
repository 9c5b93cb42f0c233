import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finalCounts, type Outcome, outcomes, progress } from '../../src/mock/state.ts';

const ends: Record<Outcome, unknown> = {
  passed: { state: 'completed', failed: 0, blocked: 0 },
  failed: { state: 'completed', failed: 2, blocked: 0 },
  blocked: { state: 'completed', failed: 0, blocked: 1 },
  cancelled: { state: 'cancelled', failed: 0, blocked: 0 },
  stuck: { state: 'in_progress', failed: 0, blocked: 0 },
};

describe('the outcome', () => {
  it.each(outcomes)('%s ends with its counts, and not before its duration', (outcome) => {
    expect(progress(outcome, 100, 100)).toEqual(ends[outcome]);
    expect(progress(outcome, 99.9, 100).state).toBe('in_progress');
    expect(progress(outcome, 1e12, 100)).toEqual(ends[outcome]);
  });

  it.each(outcomes)('%s ends immediately with a duration of 0', (outcome) => {
    expect(progress(outcome, 0, 0)).toEqual(ends[outcome]);
  });

  it.each([
    ['passed', { failed: 0, blocked: 0 }],
    ['failed', { failed: 4, blocked: 3 }],
    ['blocked', { failed: 4, blocked: 3 }],
    ['cancelled', { failed: 4, blocked: 3 }],
    ['stuck', { failed: 0, blocked: 0 }],
  ] as const)('%s accepts other counts unless they contradict it', (outcome, counts) => {
    expect(finalCounts(outcome, { failed: 4, blocked: 3 })).toEqual(counts);
  });

  it('keeps the default of a count that is not requested', () => {
    expect(finalCounts('failed', { blocked: 5 })).toEqual({ failed: 2, blocked: 5 });
  });

  it('counts up in whole numbers and reaches the final count only at the end', () => {
    const time = fc.double({ min: 0, max: 1000, noNaN: true });
    const count = fc.integer({ min: 0, max: 50 });
    fc.assert(
      fc.property(time, time, count, count, (one, two, failed, blocked) => {
        const at = (ms: number) => progress('failed', ms, 1000, { failed, blocked });
        const [early, late] = [at(Math.min(one, two)), at(Math.max(one, two))];
        expect(Number.isInteger(early.failed) && Number.isInteger(early.blocked)).toBe(true);
        expect(early.failed).toBeLessThanOrEqual(late.failed);
        expect(early.blocked).toBeLessThanOrEqual(late.blocked);
        if (late.state === 'in_progress' && failed > 0) expect(late.failed).toBeLessThan(failed);
      }),
    );
  });
});
