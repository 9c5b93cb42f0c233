import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actualProgress, finalCounts } from '../../src/mock/runs.ts';
import { byProcess } from './service.ts';

describe('the outcome', () => {
  it.each([
    ['passed', { failed: 0, blocked: 0 }],
    ['failed', { failed: 4, blocked: 3 }],
    ['blocked', { failed: 4, blocked: 3 }],
    ['cancelled', { failed: 4, blocked: 3 }],
    ['stuck', { failed: 0, blocked: 0 }],
  ] as const)('%s accepts other counts unless they contradict it', (outcome, counts) => {
    expect(finalCounts(outcome, { failed: 4, blocked: 3 })).toEqual(counts);
  });

  it('counts up in whole numbers and reaches the final count only at the end', () => {
    const time = fc.double({ min: 0, max: 1000, noNaN: true });
    const count = fc.integer({ min: 0, max: 50 });
    fc.assert(
      fc.property(time, time, count, count, (one, two, failed, blocked) => {
        const counts = { failed, blocked };
        const run = { id: 'run_1', request: byProcess, startedAt: 0, appUrl: '' };
        const at = (ms: number) =>
          actualProgress({ ...run, outcome: 'failed', durationMs: 1000, counts }, ms);
        const [early, late] = [at(Math.min(one, two)), at(Math.max(one, two))];
        expect(Number.isInteger(early.failed) && Number.isInteger(early.blocked)).toBe(true);
        expect(early.failed).toBeLessThanOrEqual(late.failed);
        expect(early.blocked).toBeLessThanOrEqual(late.blocked);
        if (late.state === 'in_progress' && failed > 0) expect(late.failed).toBeLessThan(failed);
      }),
    );
  });
});
