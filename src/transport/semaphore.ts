import type { Stop } from './stop.ts';

/** Lets so many in at once; the others wait for their turn, in order. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  /** True when one was let in at once. Who has been let in must leave. */
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Resolves to true when it is one's turn, and to false when one is stopped before that. */
  wait(stop: Stop): Promise<boolean> {
    if (stop.called) return Promise.resolve(false);
    return new Promise((resolve) => {
      const turn = () => {
        stop.off(leave);
        resolve(true);
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        resolve(false);
      };
      this.#waiting.push(turn);
      stop.on(leave);
    });
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
