export const verdicts = ['passed', 'failed', 'blocked', 'cancelled', 'timeout', 'unobserved'] as const;

/**
 * What a run came to. `timeout` and `unobserved` say what we know of it, not what it did: the one, that it was
 * still going when our time was up; the other, that we could not learn its state.
 */
export type Verdict = (typeof verdicts)[number];

export interface EndedRun {
  state: 'completed' | 'cancelled';
  /** Count of failed items. */
  failed: number;
  /** Count of blocked items. */
  blocked: number;
}

/** The verdict on a run that has ended (interface, section 3: the gate rule). */
export function verdictOf(run: EndedRun): Exclude<Verdict, 'timeout' | 'unobserved'> {
  if (run.failed > 0) return 'failed';
  if (run.blocked > 0) return 'blocked';
  return run.state === 'cancelled' ? 'cancelled' : 'passed';
}
