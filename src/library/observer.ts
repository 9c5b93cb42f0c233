import { type StopCause, StoppedError } from '../errors.ts';
import type { GateEvent } from '../gate/events.ts';

const signals: readonly unknown[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/** What an abort's reason says: `controller.abort('SIGTERM')` is a stop by that signal. */
function causeOf(reason: unknown): StopCause {
  if (reason instanceof StoppedError) return reason.signal;
  return signals.includes(reason) ? (reason as StopCause) : 'abort';
}

/** The caller's observer and its stop. An observer that throws stops the gate: a run of ours must not go on unseen. */
export function observerOf(options: {
  onProgress?: ((event: GateEvent) => void) | undefined;
  signal?: AbortSignal | undefined;
}) {
  let failure: { error: unknown } | undefined;
  const broken = new AbortController();
  return {
    emit(event: GateEvent): void {
      if (failure !== undefined) return;
      try {
        options.onProgress?.(event);
      } catch (error) {
        failure = { error };
        broken.abort();
      }
    },
    throwIfFailed(): void {
      if (failure !== undefined) throw failure.error;
    },
    onStop(listener: (cause: StopCause) => void): () => void {
      const done = new AbortController();
      for (const signal of [options.signal, broken.signal]) {
        const onAbort = () => {
          if (done.signal.aborted) return;
          done.abort();
          listener(causeOf(signal?.reason));
        };
        if (signal?.aborted === true) onAbort();
        else signal?.addEventListener('abort', onAbort, { once: true, signal: done.signal });
      }
      return () => done.abort();
    },
  };
}
