import { type Rules, usualLimits } from '../../src/gate/limits.ts';
import { resolvePolicy } from '../../src/gate/policy.ts';
import type { GateRules } from '../../src/gate/state.ts';

const anyNumber = Number.POSITIVE_INFINITY;

/** Returns the rules of a planned gate: strict, with the usual limits, without a number of reads. */
export const rulesOf = (rules: Partial<Rules> = {}): Rules => ({
  ...usualLimits,
  maxAttempts: anyNumber,
  policy: resolvePolicy({ strict: true }),
  ...rules,
});

/** Returns the rules of a gate of the state, which are the same. */
export const gateRulesOf = (rules: Partial<GateRules> = {}): GateRules => ({
  policy: resolvePolicy(),
  intervalMs: usualLimits.intervalMs,
  timeoutMs: usualLimits.timeoutMs,
  shortestMs: 1000,
  maxReads: null,
  retries: 0,
  cancelOnInterrupt: true,
  cancelOnTimeout: true,
  waits: true,
  ...rules,
});
