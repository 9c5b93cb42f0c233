import type { TriggerBody } from '../contract/run.ts';
import { ContractError } from '../errors.ts';
import { type CreatedRun, type CreateTools, createRun } from './create.ts';

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
   * By default one read of a run that is in doubt.
   * @param leftMs until the start may wait no longer for a rate limit
   */
  endedAtFirstRead?(candidate: Candidate, leftMs: number): Promise<boolean>;
}

export type Started =
  | ({ kind: 'started'; discarded: DiscardedRun[] } & Candidate)
  | { kind: 'none' | 'unknown'; step: KeyStep; discarded: DiscardedRun[] };

/** How long the look at a run that is not waited for may take, retries included, in milliseconds. */
const firstReadTimeoutMs = 60_000;

async function readIfDoubtful(
  { run, doubtful }: Candidate,
  leftMs: number,
  tools: StartTools,
): Promise<boolean> {
  const { service, signal } = tools;
  if (!doubtful || signal.aborted) return false;
  try {
    const limitTimeoutMs = Math.max(firstReadTimeoutMs, leftMs);
    return await service.hasEnded(run.runId, { signal, timeoutMs: firstReadTimeoutMs, limitTimeoutMs });
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  }
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
  const { clock, journal, emit } = tools;
  const discarded: DiscardedRun[] = [];
  const deadline = clock.monotonic() + timeoutMs;
  const leftMs = () => deadline - clock.monotonic();
  const { endedAtFirstRead = (run, ms) => readIfDoubtful(run, ms, tools) } = tools;
  for (const step of start.keys) {
    const idempotencyKey = step.key;
    journal?.triggering(step, body);
    const creation = await createRun({ body, idPointer, idempotencyKey }, Math.max(1, leftMs()), tools);
    if (creation.kind !== 'created') return { kind: creation.kind, step, discarded };
    const { runId, appUrl } = creation;
    journal?.created(step, creation);
    // A service that ignores the keys gives the same run for each. It is not read again: its state may be stale then.
    if (discarded.some((run) => run.runId === runId)) {
      journal?.settled(runId);
      if (tools.signal.aborted) return { kind: 'none', step, discarded };
      continue;
    }
    const candidate = candidateOf(step, creation);
    emit?.({ type: 'created', runId, appUrl, reattached: candidate.reattached });
    if (!(await endedAtFirstRead(candidate, leftMs()))) return { kind: 'started', discarded, ...candidate };
    journal?.settled(runId);
    const run = { runId, appUrl, idempotencyKey };
    discarded.push(run);
    emit?.({ type: 'discarded', ...run });
  }
  throw new ContractError(
    'the service returns a run that has already ended for every idempotency key, even for a random one',
    { field: 'runId', expected: 'a new run', received: 'a run that has ended' },
  );
}
