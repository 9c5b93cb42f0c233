import { setMaxListeners } from 'node:events';

/**
 * Ends one request early, with a reason. Not an AbortSignal: that and its listeners would cost as much as preparing and
 * sending the request.
 */
export class Stop {
  called = false;
  reason: unknown;
  /** Runs when `call` is called for the first time. */
  onCall: (() => void) | undefined;

  /** Stops the request; only the first call has an effect. */
  call(reason: unknown): void {
    if (this.called) return;
    this.called = true;
    this.reason = reason;
    this.onCall?.();
  }
}

/**
 * Calls `act` once, when one of the signals is aborted, with its reason; at once if one is already. Returns a function that ends
 * that, and leaves no listener: a signal may outlive a million calls. `AbortSignal.any` leaks in Node 20.
 */
export function onAbort(signals: readonly AbortSignal[], act: (reason: unknown) => void): () => void {
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted !== undefined) act(aborted.reason);
  const followed = (aborted === undefined ? signals : []).map((signal) => {
    // Node warns of a leak at eleven listeners, and many calls may wait for one signal.
    if (signal instanceof EventTarget) setMaxListeners(0, signal);
    const end = () => {
      release();
      act(signal.reason);
    };
    signal.addEventListener('abort', end);
    // Not the option `signal` of addEventListener: the signals of other libraries may not know it.
    return () => signal.removeEventListener('abort', end);
  });
  const release = () => {
    for (const remove of followed) remove();
  };
  return release;
}

export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => onAbort([signal], () => resolve(undefined)));
}

/** Returns a signal that follows one or two others until it is released. */
export function eitherSignal(one: AbortSignal | undefined, other: AbortSignal) {
  if (one === undefined) return { signal: other, release() {} };
  const both = new AbortController();
  return { signal: both.signal, release: onAbort([one, other], (reason) => both.abort(reason)) };
}
