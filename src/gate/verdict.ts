export const verdicts = [
  'passed',
  'flaky',
  'failed',
  'blocked',
  'cancelled',
  'timeout',
  'unobserved',
  'mismatch',
] as const;

/**
 * The verdict on a run. `flaky`: it passed, but an earlier run of the gate had failed (`retries`). `timeout`: it was still going at the deadline. `unobserved`: its state, or the deployed build that it
 * tested, could not be read. `mismatch`: it did not test the expected build, or not only that. None of these says what the
 * expected build does.
 */
export type Verdict = (typeof verdicts)[number];

export interface EndedRun {
  state: 'completed' | 'cancelled';
  failed: number;
  blocked: number;
}

/** The gate rule of the interface, section 3. */
export function verdictOf(run: EndedRun): Exclude<Verdict, 'flaky' | 'timeout' | 'unobserved' | 'mismatch'> {
  if (run.failed > 0) return 'failed';
  if (run.blocked > 0) return 'blocked';
  return run.state === 'cancelled' ? 'cancelled' : 'passed';
}
