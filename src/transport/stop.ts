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

export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/**
 * Returns a signal that follows one or two others until it is released. Like `AbortSignal.any`, but `release` leaves no listener
 * behind in a signal that may outlive a million calls.
 */
export function eitherSignal(one: AbortSignal | undefined, other: AbortSignal) {
  if (one === undefined) return { signal: other, release() {} };
  const both = new AbortController();
  const onOne = () => both.abort(one.reason);
  const onOther = () => both.abort(other.reason);
  if (one.aborted) onOne();
  else if (other.aborted) onOther();
  one.addEventListener('abort', onOne, { once: true });
  other.addEventListener('abort', onOther, { once: true });
  return {
    signal: both.signal,
    release() {
      one.removeEventListener('abort', onOne);
      other.removeEventListener('abort', onOther);
    },
  };
}
