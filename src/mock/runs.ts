import type { RunState, TriggerBody } from '../contract/run.ts';

export const outcomes = ['passed', 'failed', 'blocked', 'cancelled', 'stuck'] as const;
/** How a run of the mock ends: `stuck` never does, the others after its duration. */
export type Outcome = (typeof outcomes)[number];

/** Failed and blocked items of a run. */
export interface Counts {
  failed: number;
  blocked: number;
}

export interface RunProgress extends Counts {
  state: RunState;
}

export interface Run {
  readonly id: string;
  readonly request: TriggerBody;
  /** Milliseconds on the clock's monotonic scale. */
  readonly startedAt: number;
  /** How the run ends, as planned. Ending it early changes all three fields. */
  outcome: Outcome;
  durationMs: number;
  counts: Counts;
  readonly appUrl: string;
  /** Set when the run was cancelled in time. */
  cancelled?: { at: number; reason: string | undefined };
  /** Webhooks were notified of its end. */
  announced?: boolean;
  /** Until then, on the clock's monotonic scale, its status says that it is in progress: the fault `early`. */
  statusHeldUntil?: number;
  /** A status response has reported its end. */
  endShown?: boolean;
}

/** Requested counts replace the outcome's defaults, unless they contradict it: a passed or stuck run counts nothing. */
export function finalCounts(outcome: Outcome, requested: Partial<Counts> = {}): Counts {
  const defaults = { failed: outcome === 'failed' ? 2 : 0, blocked: outcome === 'blocked' ? 1 : 0 };
  return outcome === 'passed' || outcome === 'stuck' ? defaults : { ...defaults, ...requested };
}

/**
 * Returns the progress of a run, even if its status does not show it yet. The counts grow evenly until the end, so a client
 * that judges a run early gets a number that is too small.
 */
export function actualProgress(
  { outcome, startedAt, durationMs, counts, cancelled }: Run,
  now: number,
): RunProgress {
  const elapsed = Math.max(0, (cancelled?.at ?? now) - startedAt);
  const hasEnded = outcome !== 'stuck' && elapsed >= durationMs;
  const share = hasEnded || outcome === 'stuck' ? 1 : elapsed / durationMs;
  const ended = outcome === 'cancelled' ? 'cancelled' : 'completed';
  return {
    state: cancelled !== undefined ? 'cancelled' : hasEnded ? ended : 'in_progress',
    failed: Math.floor(counts.failed * share),
    blocked: Math.floor(counts.blocked * share),
  };
}
