import type { TriggerBody } from '../contract/run.ts';
import { ContractError } from '../errors.ts';
import { type CreatedRun, type CreateTools, type Creation, createRun } from './create.ts';

/**
 * Who may have used a key before: `user`, the user's own key, whose run is what was asked for, ended or not; `random`, nobody;
 * `attempt`, made of what the CI says of this very attempt, so jobs that the CI does not tell apart; `earlier`, an earlier
 * attempt as well.
 */
export type KeyOrigin = 'user' | 'random' | 'attempt' | 'earlier';

/** One idempotency key to start a run with. */
export interface KeyStep {
  key: string;
  /** How the key was made, for people. */
  how: string;
  origin: KeyOrigin;
}

/** A run to be started. */
export interface Start {
  body: TriggerBody;
  /** Used in order, each next one only when the run of the last one had ended before its first status read. */
  keys: readonly KeyStep[];
  /** The setting `run.idPointer`: where the create response has the run's id. */
  idPointer?: string | undefined;
}

/** Remembers what this job has started, so that it is found again whatever happens to us. */
export interface RunJournal {
  /** Before the request goes out. */
  triggering(step: KeyStep, body: TriggerBody): void;
  created(step: KeyStep, run: { runId: string; appUrl: string | null }): void;
  /** We are done with the run: it has ended and we have seen it, or it was only to be started. */
  settled(runId: string): void;
}

/** A run that a create gave. */
export interface Candidate {
  step: KeyStep;
  run: CreatedRun;
  /** An earlier request with the same key started it. */
  reattached: boolean;
  /** The create response does not rule out that another job started it: if it has ended at the first look, it is not ours. */
  doubtful: boolean;
}

/** A run that had ended before its first status read, so that another job or attempt may have started it. Never judged. */
export interface DiscardedRun {
  runId: string;
  appUrl: string | null;
  idempotencyKey: string;
}

export interface StartTools extends CreateTools {
  journal?: RunJournal | undefined;
  /**
   * Reads the run, or waits for it. Returns whether it is in doubt and had ended before its first clear status read.
   * @param leftMs until the start may wait no longer for a rate limit
   */
  endedAtFirstLook(candidate: Candidate, leftMs: number): Promise<boolean>;
  onDiscarded?: ((run: DiscardedRun) => void) | undefined;
}

export type Started =
  | ({ kind: 'started'; discarded: DiscardedRun[] } & Candidate)
  | { kind: 'none' | 'unknown'; step: KeyStep; discarded: DiscardedRun[] };

/** How long the look at a run that is not waited for may take, retries included, in milliseconds. */
const lookTimeoutMs = 60_000;

/** The first look at a run that is not waited for: one status read, if the run is in doubt at all. */
export function lookOnce({ service, stop }: Pick<CreateTools, 'service' | 'stop'>) {
  return async ({ run, doubtful }: Candidate, leftMs: number): Promise<boolean> => {
    if (!doubtful || stop.aborted) return false;
    try {
      const limitTimeoutMs = Math.max(lookTimeoutMs, leftMs);
      return await service.hasEnded(run.runId, { signal: stop, timeoutMs: lookTimeoutMs, limitTimeoutMs });
    } catch (error) {
      if (!stop.aborted) throw error;
      return false;
    }
  };
}

function candidateOf(step: KeyStep, run: CreatedRun): Candidate {
  const { origin } = step;
  const { replayed, attempts } = run;
  // Only our own lost attempt can have used a random key.
  const repeated = replayed === true && !(origin === 'random' && attempts > 1);
  return {
    step,
    run,
    reattached: repeated || (replayed === null && origin === 'earlier'),
    doubtful: origin !== 'user' && replayed !== false && (origin !== 'random' || repeated),
  };
}

/**
 * Starts a run, or attaches to one that another attempt has left in progress. A run that may be another job's and that had
 * ended before its first status read is discarded, and the next key is used: neither its pass nor its failure is ours.
 */
export async function startRun(start: Start, timeoutMs: number, tools: StartTools): Promise<Started> {
  const { body, idPointer } = start;
  const discarded: DiscardedRun[] = [];
  const deadline = tools.clock.monotonic() + timeoutMs;
  for (const step of start.keys) {
    const request = { body, idPointer, idempotencyKey: step.key };
    tools.journal?.triggering(step, body);
    const leftMs = Math.max(1, deadline - tools.clock.monotonic());
    const creation: Creation = await createRun(request, leftMs, tools);
    if (creation.kind !== 'created') return { kind: creation.kind, step, discarded };
    const { runId, appUrl } = creation;
    tools.journal?.created(step, creation);
    const candidate = candidateOf(step, creation);
    const left = deadline - tools.clock.monotonic();
    // A service that ignores the keys gives the same run for each of them. It is not looked at again: its state may be stale then.
    const again = discarded.some((run) => run.runId === runId);
    if (!again && !(await tools.endedAtFirstLook(candidate, left)))
      return { kind: 'started', discarded, ...candidate };
    tools.journal?.settled(runId);
    if (again && tools.stop.aborted) return { kind: 'none', step, discarded };
    if (again) continue;
    const run = { runId, appUrl, idempotencyKey: step.key };
    discarded.push(run);
    tools.onDiscarded?.(run);
  }
  throw new ContractError(
    'the service returns a run that has already ended for every idempotency key, even for a random one',
    {
      field: 'runId',
      expected: 'a new run',
      received: 'a run that has ended',
    },
  );
}
