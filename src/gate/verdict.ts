export const verdicts = ['passed', 'failed', 'blocked', 'cancelled', 'timeout', 'unobserved'] as const;

/**
 * The verdict on a run. `timeout`: it was still going at the deadline. `unobserved`: its state could not be read. Neither says
 * what the run did.
 */
export type Verdict = (typeof verdicts)[number];

export interface EndedRun {
  state: 'completed' | 'cancelled';
  /** Count of failed items. */
  failed: number;
  /** Count of blocked items. */
  blocked: number;
}

/** Returns the verdict on a run that has ended (interface, section 3: the gate rule). */
export function verdictOf(run: EndedRun): Exclude<Verdict, 'timeout' | 'unobserved'> {
  if (run.failed > 0) return 'failed';
  if (run.blocked > 0) return 'blocked';
  return run.state === 'cancelled' ? 'cancelled' : 'passed';
}
