import type { ExchangeEvent } from '../client/options.ts';
import { type Clock, isPromise, within } from '../clock.ts';
import { type StopCause, StoppedError } from '../errors.ts';
import type { GateEvent } from '../gate/events.ts';

const signals: readonly unknown[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/** Returns the cause of a stop from an abort's reason: `controller.abort('SIGTERM')` is a stop by that signal. */
function causeOf(reason: unknown): StopCause {
  if (reason instanceof StoppedError) return reason.signal;
  return signals.includes(reason) ? (reason as StopCause) : 'abort';
}

/** How long the end of a gate waits for asynchronous functions of the caller, in milliseconds. */
const longestMs = 10_000;

/** Wraps the caller's functions and `signal`. A function that throws or rejects stops the gate, so no run goes on unobserved. */
export function observerOf<Event = GateEvent>(options: {
  onProgress?: ((event: Event | GateEvent) => void) | undefined;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
  signal?: AbortSignal | undefined;
}) {
  let failure: { error: unknown } | undefined;
  const broken = new AbortController();
  const pending = new Set<Promise<unknown>>();
  const fail = (error: unknown) => {
    failure ??= { error };
    broken.abort();
  };
  const guarded =
    <Given>(receive: ((event: Given) => void) | undefined) =>
    (event: Given): void => {
      if (failure !== undefined) return;
      try {
        const returned: unknown = receive?.(event);
        if (!isPromise(returned)) return;
        const settled: Promise<unknown> = returned.then(() => {}, fail).then(() => pending.delete(settled));
        pending.add(settled);
      } catch (error) {
        fail(error);
      }
    };
  return {
    emit: guarded(options.onProgress),
    onExchange: guarded(options.onExchange),
    /** Waits for the caller's functions. Returns whether one has failed. */
    async hasFailed(clock: Clock): Promise<boolean> {
      if (pending.size > 0) await within(longestMs, Promise.all(pending), clock);
      return failure !== undefined;
    },
    throwIfFailed(): void {
      if (failure !== undefined) throw failure.error;
    },
    onStop(listener: (cause: StopCause) => void): () => void {
      const own = [options.signal, broken.signal].filter((signal) => signal !== undefined);
      const onAbort = () => {
        remove();
        listener(causeOf(own.find(({ aborted }) => aborted)?.reason));
      };
      // The option `signal` of addEventListener would leave the listener there after a garbage collection, in Node 20.
      const remove = () => {
        for (const signal of own) signal.removeEventListener('abort', onAbort);
      };
      if (own.some(({ aborted }) => aborted)) onAbort();
      else for (const signal of own) signal.addEventListener('abort', onAbort);
      return remove;
    },
  };
}
