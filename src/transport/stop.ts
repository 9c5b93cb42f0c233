/**
 * Whether one try is to end early, and why. Not an AbortSignal: that and its listeners cost a call as much as
 * preparing and sending its request do.
 */
export class Stop {
  #called = false;
  #reason: unknown;
  readonly #callbacks = new Set<() => void>();

  get called(): boolean {
    return this.#called;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The first reason counts. */
  call(reason: unknown): void {
    if (this.#called) return;
    this.#called = true;
    this.#reason = reason;
    for (const callback of [...this.#callbacks]) callback();
    this.#callbacks.clear();
  }

  /** Calls back once when it is called from now on; it is up to the caller to ask whether it has been. */
  on(callback: () => void): void {
    this.#callbacks.add(callback);
  }

  off(callback: () => void): void {
    this.#callbacks.delete(callback);
  }
}
