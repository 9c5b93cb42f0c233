/**
 * Whether one try is to end early, and why. Not an AbortSignal: that and its listeners cost a call as much as
 * preparing and sending its request do.
 */
export class Stop {
  called = false;
  reason: unknown;
  /** What is done when it is called from now on. */
  onCall: (() => void) | undefined;

  /** The first reason counts. */
  call(reason: unknown): void {
    if (this.called) return;
    this.called = true;
    this.reason = reason;
    this.onCall?.();
  }
}

/** A signal that follows one or two others, until it is let go. */
export interface EitherSignal {
  readonly signal: AbortSignal;
  /** Leaves no trace of it in them: they may live for a million calls. */
  release(): void;
}

/** `AbortSignal.any` without what that leaves behind in a signal that lives long. */
export function eitherSignal(one: AbortSignal | undefined, other: AbortSignal): EitherSignal {
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
