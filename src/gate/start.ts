import type { TriggerBody } from '../contract/run.ts';
import { ContractError } from '../errors.ts';
import { type CreatedRun, type CreateTools, type Creation, createRun } from './create.ts';

/** One idempotency key to start a run with. */
export interface KeyStep {
  key: string;
  /** How the key was made, for people. */
  how: string;
  /** Look at the run that the key gives before it is waited for: it may be one that has ended long ago. */
  lookBack: boolean;
  /** Nobody before us can have used the key, so whatever it gives is ours. */
  own: boolean;
  /** The user's own key: what it gives is what was asked for, ended or not. */
  given?: true;
}

/** A run to be started. */
export interface Start {
  body: TriggerBody;
  /** Tried in order, each next one only when the run that the last one gave had ended before we came. */
  keys: readonly KeyStep[];
  /** The setting `run.idPointer`: where the create reply has the run's id. */
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

export interface StartTools extends CreateTools {
  journal?: RunJournal | undefined;
}

export type Started =
  | { kind: 'started'; run: CreatedRun; step: KeyStep; reattached: boolean }
  | { kind: 'none' | 'unknown'; step: KeyStep };

/** How long a look at a run that was found may take, retries included, in milliseconds. */
const lookTimeoutMs = 60_000;

/** What to do with the run that a key gave: wait for it as a new or as an old one, or leave it, because it had ended. */
async function consider(
  step: KeyStep,
  run: CreatedRun,
  tools: StartTools,
): Promise<'new' | 'attach' | 'leave'> {
  const { replayed } = run;
  if (step.given) return replayed === true ? 'attach' : 'new';
  if (replayed === false || (!step.lookBack && replayed === null)) return 'new';
  const ended = await tools.service.hasEnded(run.runId, { signal: tools.stop, timeoutMs: lookTimeoutMs });
  // A service that does not say whether it replayed: what nobody else could have started is ours, and was quick.
  const ours = step.own && replayed === null;
  if (ended) return ours ? 'new' : 'leave';
  return ours ? 'new' : 'attach';
}

/**
 * Starts a run, or attaches to the one that an earlier attempt has left in progress. A run that had ended before we
 * came is never used: not its green, not its red.
 */
export async function startRun(start: Start, timeoutMs: number, tools: StartTools): Promise<Started> {
  const { body, idPointer } = start;
  for (const step of start.keys) {
    tools.journal?.triggering(step, body);
    const creation: Creation = await createRun(
      { body, idPointer, idempotencyKey: step.key },
      timeoutMs,
      tools,
    );
    if (creation.kind !== 'created') return { kind: creation.kind, step };
    tools.journal?.created(step, creation);
    if (tools.stop.aborted)
      return { kind: 'started', run: creation, step, reattached: creation.replayed === true };
    let verdict: 'new' | 'attach' | 'leave';
    try {
      verdict = await consider(step, creation, tools);
    } catch (error) {
      if (!tools.stop.aborted) throw error;
      verdict = 'attach';
    }
    if (verdict !== 'leave')
      return { kind: 'started', run: creation, step, reattached: verdict === 'attach' };
    tools.journal?.settled(creation.runId);
  }
  throw new ContractError(
    'the service answers every idempotency key, a new one too, with a run that has ended',
    {
      field: 'runId',
      expected: 'a new run',
      received: 'one that had ended before',
    },
  );
}
