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

interface Listener {
  readonly acts: Set<() => void>;
  call(): void;
}
const listeners = new WeakMap<AbortSignal, Listener>();

function newListener(signal: AbortSignal): Listener {
  const acts = new Set<() => void>();
  const call = () => {
    for (const act of acts) act();
  };
  listeners.set(signal, { acts, call });
  return { acts, call };
}

/** Calls `act` when the signal is aborted, until the function that it returns is called. */
function listen(signal: AbortSignal, act: () => void): () => void {
  const { acts, call } = listeners.get(signal) ?? newListener(signal);
  if (acts.size === 0) signal.addEventListener('abort', call, { once: true });
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size === 0) signal.removeEventListener('abort', call);
  };
}

/**
 * Calls `act` once, when one of the signals is aborted, with its reason; at once if one is already. Returns a function that ends
 * that. A signal has one listener, however many wait for it, since Node warns of a leak at eleven; and none after the last, since
 * it may outlive a million calls. `AbortSignal.any` leaks in Node 20.
 */
export function onAbort(signals: readonly AbortSignal[], act: (reason: unknown) => void): () => void {
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted !== undefined) act(aborted.reason);
  const removes = (aborted === undefined ? signals : []).map((signal) =>
    listen(signal, () => {
      remove();
      act(signal.reason);
    }),
  );
  const remove = () => {
    for (const one of removes) one();
  };
  return remove;
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
