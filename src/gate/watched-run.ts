import { firstProgress, type Outcome, type Progress } from './poll.ts';
import type { RunSubject } from './result-types.ts';
import { named } from './subject.ts';

export interface WatchedRun {
  runId: string;
  subject: RunSubject;
  progress: Progress;
  /** The time of its next read, on the monotonic clock, in milliseconds. */
  due: number;
  /** The time at which the limits or the hub permit that read, if that is later; Infinity while only the hub knows it. */
  turn: number;
  outcome: Outcome | null;
  /** The times at which the wait for it began and ended, on the monotonic clock. */
  startedAt: number;
  endedAt: number | null;
  appUrl: string | null;
  /** The key that started the run; null if this gate did not start it. */
  idempotencyKey: string | null;
  /** Whether an earlier attempt with the same key started it. */
  reattached: boolean;
  /** The number of the retry that started it; 0 for the gate's first run. */
  retry: number;
  /** The result of the request to cancel it; null if there was none. */
  cancellation: 'requested' | 'failed' | null;
  /** Wake-ups by the hub so far, and the reads that they have caused. */
  wakes: number;
  confirmations: number;
  /** The next read is one that a wake-up has caused. */
  woken: boolean;
  /** The last read was one. */
  readWoken: boolean;
}

export function watch(runId: string, now: number, known: Partial<WatchedRun> = {}): WatchedRun {
  return {
    runId,
    subject: named(),
    progress: firstProgress(),
    due: now,
    turn: now,
    outcome: null,
    startedAt: now,
    endedAt: null,
    appUrl: null,
    idempotencyKey: null,
    reattached: false,
    retry: 0,
    cancellation: null,
    wakes: 0,
    confirmations: 0,
    woken: false,
    readWoken: false,
    ...known,
  };
}
