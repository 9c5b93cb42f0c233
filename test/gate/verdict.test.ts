import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EndedRun, type Verdict, verdictOf, verdicts } from '../../src/gate/verdict.ts';

describe('the verdict on an ended run', () => {
  test.each<[EndedRun['state'], number, number, Verdict]>([
    ['completed', 0, 0, 'passed'],
    ['completed', 1, 0, 'failed'],
    ['completed', 0, 1, 'blocked'],
    ['completed', 3, 2, 'failed'],
    ['cancelled', 0, 0, 'cancelled'],
    ['cancelled', 1, 0, 'failed'],
    ['cancelled', 0, 1, 'blocked'],
    ['cancelled', 2, 5, 'failed'],
    ['completed', Number.MAX_SAFE_INTEGER, 0, 'failed'],
  ])('%s with %i failed and %i blocked is %s', (state, failed, blocked, verdict) => {
    expect(verdictOf({ state, failed, blocked })).toBe(verdict);
  });

  test('is passed only for a completed run with 0 failed and 0 blocked', () => {
    const state = fc.constantFrom('completed', 'cancelled');
    const count = fc.oneof(fc.constant(0), fc.nat());
    fc.assert(
      fc.property(fc.record({ state, failed: count, blocked: count }), (run) => {
        const green = run.state === 'completed' && run.failed === 0 && run.blocked === 0;
        expect(verdictOf(run) === 'passed').toBe(green);
      }),
    );
  });
});

test('there are eight verdicts, three of which say nothing about the expected build', () => {
  expect(verdicts).toEqual([
    'passed',
    'flaky',
    'failed',
    'blocked',
    'cancelled',
    'timeout',
    'unobserved',
    'mismatch',
  ]);
});
