import type { RunState } from '../contract/run.ts';

/** How a run of the mock goes: `stuck` never ends, the others end after the run's duration. */
export const outcomes = ['passed', 'failed', 'blocked', 'cancelled', 'stuck'] as const;
/** How a run of the mock goes: `stuck` never ends, the others end after its duration. */
export type Outcome = (typeof outcomes)[number];

/** Failed and blocked items of a run (interface, section 2.6). */
export interface Counts {
  failed: number;
  blocked: number;
}

export interface Progress extends Counts {
  state: RunState;
}

const usualCounts: Record<Outcome, Counts> = {
  passed: { failed: 0, blocked: 0 },
  failed: { failed: 2, blocked: 0 },
  blocked: { failed: 0, blocked: 1 },
  cancelled: { failed: 0, blocked: 0 },
  stuck: { failed: 0, blocked: 0 },
};

/**
 * The counts a run ends with. Those asked for replace the outcome's usual ones, except where they would
 * contradict it: a passed run has none, and a stuck one never counts anything.
 */
export function finalCounts(outcome: Outcome, asked: Partial<Counts> = {}): Counts {
  const usual = usualCounts[outcome];
  return outcome === 'passed' || outcome === 'stuck' ? usual : { ...usual, ...asked };
}

/**
 * Where a run stands `elapsedMs` after its start, when it takes `durationMs` in all.
 * Counts grow evenly on the way, so a reader that judges before the end sees a wrong, smaller number.
 */
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
