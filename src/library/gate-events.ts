import { type RungateError, type StopCause, StoppedError } from '../errors.ts';
import type { GateObserver } from '../gate/gate.ts';
import type { WatchedRun } from '../gate/wait.ts';

/** What a gate tells as it goes, in the order in which it happens. Times in milliseconds; texts of the service are as they came. */
export type GateEvent =
  /** The start waits for the gate's turn in its fleet. */
  | { type: 'turn'; waitMs: number }
  /** The create failed and is sent again, with the same key and the same bytes. */
  | { type: 'retry'; error: RungateError; waitMs: number }
  /** `reattached`: it is the run that an earlier attempt with the same key had started. */
  | { type: 'created'; runId: string; appUrl: string | null; reattached: boolean }
  /** The run had ended before its first status read and may be another job's: it is not judged, and another one is started. */
  | { type: 'discarded'; runId: string; appUrl: string | null; idempotencyKey: string }
  /** The state of a run was read; counts are only there to rely on once it has ended. `nextMs` is null after the last read. */
  | {
      type: 'read';
      runId: string;
      state: string | null;
      failed: number | null;
      blocked: number | null;
      appUrl: string | null;
      /** Reads that count so far: all but those answered 429. */
      attempts: number;
      nextMs: number | null;
    }
  /** A read failed; `nextMs` is null where there is no next one. */
  | { type: 'trouble'; runId: string; error: RungateError; attempts: number; nextMs: number | null }
  /** The run is in a state that the contract does not know; it counts as not ended. Told once. */
  | { type: 'unknown-state'; runId: string; state: string }
  /** The wait was aborted. */
  | { type: 'stopping'; by: StopCause }
  /** The service was asked to cancel the run; `error` where it did not take that. */
  | { type: 'cancelled'; runId: string; error: RungateError | null }
  /** Something that does not change the verdict, such as a journal that cannot be written; for people. */
  | { type: 'note'; message: string };

/** The core's observer as one function of events. */
export function gateObserver(tell: (event: GateEvent) => void, now: () => number): GateObserver {
  const nextMs = (run: WatchedRun) => (run.outcome === null ? Math.max(0, run.due - now()) : null);
  return {
    onTurn: (waitMs) => tell({ type: 'turn', waitMs }),
    onCreateRetry: (error, waitMs) => tell({ type: 'retry', error: error as RungateError, waitMs }),
    onCreated: ({ runId, appUrl }, reattached) => tell({ type: 'created', runId, appUrl, reattached }),
    onDiscarded: (run) => tell({ type: 'discarded', ...run }),
    onRead(run) {
      const { runId, appUrl, progress } = run;
      const { state = null, failed = null, blocked = null } = progress.seen ?? {};
      const { attempts } = progress;
      tell({ type: 'read', runId, state, failed, blocked, appUrl, attempts, nextMs: nextMs(run) });
    },
    onTrouble: (run, error) =>
      tell({
        type: 'trouble',
        runId: run.runId,
        error,
        attempts: run.progress.attempts,
        nextMs: nextMs(run),
      }),
    onUnknownState: ({ runId }, state) => tell({ type: 'unknown-state', runId, state }),
    onStopping: (by) => tell({ type: 'stopping', by }),
    onCancelled: (runId, error) => tell({ type: 'cancelled', runId, error }),
  };
}

const signals: readonly unknown[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/** What an abort's reason says: `controller.abort('SIGTERM')` is a stop by that signal. */
function causeOf(reason: unknown): StopCause {
  if (reason instanceof StoppedError) return reason.signal;
  return signals.includes(reason) ? (reason as StopCause) : 'abort';
}

/** The observer, and the stop that its failure is: a run of ours must not go on unseen because a log could not be written. */
export function watched(options: {
  onProgress?: ((event: GateEvent) => void) | undefined;
  signal?: AbortSignal | undefined;
}) {
  let failure: { error: unknown } | undefined;
  const broken = new AbortController();
  const tell = (event: GateEvent) => {
    if (failure !== undefined) return;
    try {
      options.onProgress?.(event);
    } catch (error) {
      failure = { error };
      broken.abort();
    }
  };
  return {
    tell,
    throwIfFailed() {
      if (failure !== undefined) throw failure.error;
    },
    onStop(stop: (cause: StopCause) => void): () => void {
      const sources = [options.signal, broken.signal].filter((signal) => signal !== undefined);
      let stopped = false;
      const listeners = sources.map((signal) => {
        const listener = () => {
          if (stopped) return;
          stopped = true;
          stop(causeOf(signal.reason));
        };
        if (signal.aborted) listener();
        else signal.addEventListener('abort', listener, { once: true });
        return () => signal.removeEventListener('abort', listener);
      });
      return () => {
        for (const remove of listeners) remove();
      };
    },
  };
}
