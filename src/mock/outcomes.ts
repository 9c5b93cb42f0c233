import type { RunState } from '../contract/run.ts';

export const outcomes = ['passed', 'failed', 'blocked', 'cancelled', 'stuck'] as const;
/** How a run of the mock ends: `stuck` never does, the others after its duration. */
export type Outcome = (typeof outcomes)[number];

/** Failed and blocked items of a run (interface, section 2.6). */
export interface Counts {
  failed: number;
  blocked: number;
}

export interface Progress extends Counts {
  state: RunState;
}

const defaultCounts: Record<Outcome, Counts> = {
  passed: { failed: 0, blocked: 0 },
  failed: { failed: 2, blocked: 0 },
  blocked: { failed: 0, blocked: 1 },
  cancelled: { failed: 0, blocked: 0 },
  stuck: { failed: 0, blocked: 0 },
};

/** Requested counts replace the outcome's defaults, unless they contradict it: a passed or stuck run counts nothing. */
export function finalCounts(outcome: Outcome, requested: Partial<Counts> = {}): Counts {
  const defaults = defaultCounts[outcome];
  return outcome === 'passed' || outcome === 'stuck' ? defaults : { ...defaults, ...requested };
}

/** The counts grow evenly until the end, so a client that judges a run early gets a number that is too small. */
export function progress(
  outcome: Outcome,
  elapsedMs: number,
  durationMs: number,
  final: Counts = finalCounts(outcome),
): Progress {
  if (outcome === 'stuck') return { state: 'in_progress', ...final };
  if (elapsedMs >= durationMs)
    return { state: outcome === 'cancelled' ? 'cancelled' : 'completed', ...final };
  const share = Math.max(0, elapsedMs) / durationMs;
  return {
    state: 'in_progress',
    failed: Math.floor(final.failed * share),
    blocked: Math.floor(final.blocked * share),
  };
}
