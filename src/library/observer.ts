import type { ExchangeEvent } from '../client/options.ts';
import { type StopCause, StoppedError } from '../errors.ts';
import type { GateEvent } from '../gate/events.ts';

const signals: readonly unknown[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/** Returns the cause of a stop from an abort's reason: `controller.abort('SIGTERM')` is a stop by that signal. */
function causeOf(reason: unknown): StopCause {
  if (reason instanceof StoppedError) return reason.signal;
  return signals.includes(reason) ? (reason as StopCause) : 'abort';
}

/** Wraps the caller's functions and `signal`. A function that throws stops the gate, so no run goes on unobserved. */
export function observerOf<Event = GateEvent>(options: {
  onProgress?: ((event: Event | GateEvent) => void) | undefined;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
  signal?: AbortSignal | undefined;
}) {
  let failure: { error: unknown } | undefined;
  const broken = new AbortController();
  const guarded =
    <Given>(receive: ((event: Given) => void) | undefined) =>
    (event: Given): void => {
      if (failure !== undefined) return;
      try {
        receive?.(event);
      } catch (error) {
        failure = { error };
        broken.abort();
      }
    };
  return {
    emit: guarded(options.onProgress),
    onExchange: guarded(options.onExchange),
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
