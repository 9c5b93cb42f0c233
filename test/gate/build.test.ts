import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Action, actions, type Policy, resolvePolicy, type Verdict } from '../../src/gate/policy.ts';
import { unobserved } from '../../src/gate/reads.ts';
import type { GateState, Outcome, PlanState } from '../../src/gate/state.ts';
import { withBuild } from '../../src/gate/steps.ts';

type RunVerdict = Outcome['verdict'];

/** @param reads of the version page: `other` during the run; `confirmed` or `unread` after it */
function judged(own: RunVerdict, reads: 'other' | 'confirmed' | 'unread', policy: Policy): RunVerdict {
  const page = { other: reads === 'other', error: null } as PlanState['page'];
  const gate = { pageReads: reads === 'unread' ? 0 : 3, rules: { policy } } as GateState;
  return withBuild({ page } as PlanState, gate, { ...unobserved(null), verdict: own }).verdict;
}

it.each<[string, RunVerdict, 'other' | 'confirmed' | 'unread', Partial<Record<Verdict, Action>>, RunVerdict]>(
  [
    ['is that of the run, if the build never changed', 'passed', 'confirmed', {}, 'passed'],
    ['is mismatch, whatever a passed run says', 'passed', 'other', {}, 'mismatch'],
    ['is mismatch after a timeout', 'timeout', 'other', {}, 'mismatch'],
    ['is unobserved without a read after the run', 'passed', 'unread', {}, 'unobserved'],
    ['stays failed, if a mismatch is only a warning', 'failed', 'other', { mismatch: 'warn' }, 'failed'],
    [
      'stays blocked, if unobserved is only a warning',
      'blocked',
      'unread',
      { unobserved: 'warn' },
      'blocked',
    ],
    ['is mismatch, if a failed run may pass', 'failed', 'other', { failed: 'pass' }, 'mismatch'],
    ['stays unobserved, if the run could not be observed', 'unobserved', 'other', {}, 'unobserved'],
  ],
)('the verdict %s', (_what, own, reads, on, verdict) => {
  expect(judged(own, reads, resolvePolicy({ on: on as never }))).toBe(verdict);
});

it('another or an unknown build never makes a gate pass that would fail, and only a confirmed one passes', () => {
  const action = fc.constantFrom(...actions);
  const known = fc.constantFrom('warn' as const, 'fail' as const);
  const on = fc.record(
    {
      failed: action,
      blocked: action,
      cancelled: action,
      timeout: known,
      unobserved: known,
      mismatch: known,
    },
    { requiredKeys: [] },
  );
  const own = fc.constantFrom<RunVerdict>(
    'passed',
    'failed',
    'blocked',
    'cancelled',
    'timeout',
    'unobserved',
  );
  const seen = fc.constantFrom('other' as const, 'confirmed' as const, 'unread' as const);
  const order = ['pass', 'warn', 'fail'];
  fc.assert(
    fc.property(own, on, seen, (verdict, overrides, reads) => {
      const policy = resolvePolicy({ on: overrides as never });
      const after = judged(verdict, reads, policy);
      expect(order.indexOf(policy[after])).toBeGreaterThanOrEqual(order.indexOf(policy[verdict]));
      if (after === 'passed') expect(reads).toBe('confirmed');
    }),
  );
});
