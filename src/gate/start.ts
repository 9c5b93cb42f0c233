import type { TriggerBody } from '../contract/run.ts';
import { ContractError, UsageError } from '../errors.ts';
import type { HintNames } from '../hint-names.ts';
import type { Budget } from './budget.ts';
import { type CreatedRun, type CreateTools, createRun } from './create.ts';
import { permitCreate } from './fleet/permit.ts';

/**
 * The origin of a key, which says whether other jobs may have used it. `user`: the user gave it and gets its run, ended or
 * not. `random`: no other job has it. `attempt`: derived from this attempt, so jobs that the CI does not distinguish share it.
 * `earlier`: derived from an earlier attempt, which has used it too.
 */
export type KeyOrigin = 'user' | 'random' | 'attempt' | 'earlier';

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

/**
 * Returns the keys for a key that the user gave.
 * @throws UsageError with retries, which need a new key for each run
 */
export function givenKeys(key: string, how: string, retries: number): KeyStep[] {
  if (retries === 0) return [{ key, how, origin: 'user' }];
  throw new UsageError('retries cannot use a given idempotency key, which never starts a second run', {
    hint: 'leave out the key, or set the retries to 0; a salt also distinguishes jobs',
  });
}

/** A run to start. */
export interface Start {
  body: TriggerBody;
  /**
   * Used in order. The next one is used only if the run of the last one had ended before its first status read, or for a retry.
   */
  keys: readonly KeyStep[];
  /** The ids of the runs that the gate has judged. None of them is the run of a retry. */
  judged?: readonly string[] | undefined;
  /** The setting `run.idPointer`: where the create response has the run's id. */
  idPointer?: string | undefined;
  /** The names that errors use for settings. Default: those of the command line. */
  names?: HintNames | undefined;
}

/** Records the runs that this job starts, so they can be found again even after a crash. */
export interface RunJournal {
  /** Called before the request is sent. */
  triggering(step: KeyStep, body: TriggerBody): void;
  created(step: KeyStep, run: { runId: string; appUrl: string | null }): void;
  /** Called when the job is done with the run: it has ended, or nothing waits for it. */
  settled(runId: string): void;
}

/** Returns the journal and, for the report of a create that fails, the key of the last one. */
export function noteKey(journal?: RunJournal): { journal: RunJournal; lastKey(): string | null } {
  let key: string | null = null;
  return {
    lastKey: () => key,
    journal: {
      triggering(step, body) {
        key = step.key;
        journal?.triggering(step, body);
      },
      created: (step, run) => journal?.created(step, run),
      settled: (runId) => journal?.settled(runId),
    },
  };
}

/** A run that a create returned. */
export interface Candidate {
  step: KeyStep;
  run: CreatedRun;
  /** Whether an earlier request with the same key started it. */
  reattached: boolean;
  /** Whether another job may have started it. If it has ended at its first read, it is discarded. */
  doubtful: boolean;
}

/** A run that had ended before its first status read, so another job or attempt may have started it. It is not judged. */
export interface DiscardedRun {
  runId: string;
  appUrl: string | null;
  idempotencyKey: string;
}

export interface StartTools extends CreateTools {
  journal?: RunJournal | undefined;
  budget?: Budget | undefined;
  /** Throws if the run belongs to another gate of this process. */
  claim?: ((runId: string) => void) | undefined;
  /**
   * Reads the run or waits for it. Returns whether it is doubtful and had ended before its first clear status read; `failed` if
   * it had failed, so that the run of its retry may be in progress. The default reads a doubtful run once.
   * @param leftMs how long the start may still wait for a rate limit
   */
  endedAtFirstRead?(candidate: Candidate, leftMs: number): Promise<boolean | 'failed'>;
}

interface Before {
  discarded: DiscardedRun[];
  /** The runs that had failed at their first read, and of which this start continues the retries. */
  failed: DiscardedRun[];
}

export type Started =
  | ({ kind: 'started' } & Before & Candidate)
  | ({ kind: 'none' | 'unknown'; step: KeyStep } & Before);

/** The limit for the first read of a run without `--wait`, including retries, in milliseconds. */
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
  // Only a lost attempt of this call can have used a random key.
  const repeated = replayed === true && !(origin === 'random' && attempts > 1);
  return {
    step,
    run,
    reattached: repeated || (replayed === null && origin === 'earlier'),
    doubtful: origin !== 'user' && replayed !== false && (origin !== 'random' || repeated),
  };
}

/**
 * Starts a run, or attaches to one that an earlier attempt left in progress. A doubtful run that had ended before its first
 * status read is discarded, and the next key is used, since its verdict may be another job's. If it had failed, and the run of
 * its retry has not ended, it was an earlier run of this gate.
 */
export async function startRun(start: Start, timeoutMs: number, tools: StartTools): Promise<Started> {
  const { body, idPointer, names, judged = [] } = start;
  const { clock, journal, emit, claim } = tools;
  const discarded: DiscardedRun[] = [];
  let failed: DiscardedRun[] = [];
  let mayRetry = true;
  const discardFailed = () => {
    for (const run of failed) emit?.({ type: 'discarded', ...run });
    discarded.push(...failed);
    failed = [];
  };
  const deadline = clock.monotonic() + timeoutMs;
  const leftMs = () => deadline - clock.monotonic();
  const { endedAtFirstRead = (run, ms) => readIfDoubtful(run, ms, tools) } = tools;
  for (const step of start.keys) {
    const { key: idempotencyKey, retry = 0 } = step;
    if (retry > 0 && !mayRetry) continue;
    if (retry === 0) discardFailed();
    // The caller has the permit of the first one. If the room comes too late, the service has the last word.
    if (step !== start.keys[0]) await permitCreate(leftMs(), tools, deadline);
    journal?.triggering(step, body);
    const creation = await createRun(
      { body, idPointer, names, idempotencyKey },
      Math.max(1, leftMs()),
      tools,
    );
    if (creation.kind !== 'created') return { kind: creation.kind, step, discarded, failed };
    const { runId, appUrl } = creation;
    journal?.created(step, creation);
    claim?.(runId);
    // A service that ignores the keys returns the same run for each. It is not read again, since its state may be stale.
    if ([...judged, ...[...discarded, ...failed].map((run) => run.runId)].includes(runId)) {
      journal?.settled(runId);
      if (tools.signal.aborted) return { kind: 'none', step, discarded, failed };
      mayRetry = false;
      continue;
    }
    const candidate = candidateOf(step, creation);
    emit?.({ type: 'created', runId, appUrl, reattached: candidate.reattached });
    const ended = await endedAtFirstRead(candidate, leftMs());
    if (ended === false) return { kind: 'started', discarded, failed, ...candidate };
    journal?.settled(runId);
    failed.push({ runId, appUrl, idempotencyKey });
    mayRetry = ended === 'failed';
    if (!mayRetry) discardFailed();
  }
  discardFailed();
  throw new ContractError(
    'the service returns a run that has already ended for every idempotency key, even for a random one',
    { field: 'runId', expected: 'a new run', received: 'a run that has ended' },
  );
}
