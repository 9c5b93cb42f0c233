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
