import type { TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';

/**
 * The origin of a key, which says who else may have used it. `user`: the user gave it and gets its run, ended or not. `random`:
 * no other job has it. `attempt`: derived from this attempt, so only jobs that the CI does not distinguish share it. `journal`:
 * the same, and this attempt has used it before and was killed. `earlier`: an earlier attempt may have used it.
 */
export type KeyOrigin = 'user' | 'random' | 'attempt' | 'journal' | 'earlier';

/** One idempotency key to start a run with. */
export interface KeyStep {
  key: string;
  /** How the key was made, as text for people. */
  how: string;
  origin: KeyOrigin;
  /** The number of the retry that it is for; default 0. It is only used if the run of the key before it has failed. */
  retry?: number | undefined;
  /** The round of the job that it was made for, in the journal; default: the round that begins now. */
  round?: number | undefined;
}

/** @throws UsageError with retries, which need a new key for each run */
export function givenKeys(key: string, how: string, retries: number): KeyStep[] {
  if (retries === 0) return [{ key, how, origin: 'user' }];
  throw new UsageError('retries cannot use a given idempotency key, which never starts a second run', {
    hint: 'leave out the key, or set the retries to 0; a salt also distinguishes jobs',
  });
}

/** Records the runs that this job starts, so they can be found again even after a crash. */
export interface RunJournal {
  /** Called before the request is sent. */
  triggering(step: KeyStep, body: TriggerBody): void;
  created(step: KeyStep, run: { runId: string; appUrl: string | null }): void;
  /** Called when the job is done with the run: it has ended, or nothing waits for it. */
  settled(runId: string): void;
}
