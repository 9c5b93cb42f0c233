/** Does in memory what `logScript` does: the log of one Redis, whose clock may be set. */
export class LogModel {
  #entries: { id: string; text: string }[] = [];
  #last = 0;
  /** Milliseconds since the epoch. */
  clock: () => number;

  constructor(clock: () => number) {
    this.clock = clock;
  }

  clear(): void {
    this.#entries = [];
  }

  /** Forgets the last entries, as a failover may. */
  lose(count: number): void {
    this.#entries.splice(Math.max(0, this.#entries.length - count));
  }

  run([known = '', mode, kept, , ...texts]: readonly string[]): (string | number)[] {
    const at = this.#entries.findIndex(({ id }) => id === known);
    const isLost = known !== '' && at < 0;
    const isLast = at >= 0 && at === this.#entries.length - 1;
    if (this.#entries.length === 0) this.#add('begin 0');
    const isAdded = mode === 'always' || isLast;
    if (isAdded) for (const text of texts) this.#add(text);
    const after = this.#entries.slice(at + 1);
    this.#entries = this.#entries.slice(-Number(kept));
    const flags = [Number(isLost), Number(isAdded), this.clock()];
    return [...flags, ...after.flatMap(({ id, text }) => [id, text])];
  }

  #add(text: string): void {
    // Redis never gives an earlier id, even if its clock is set back.
    this.#last = Math.max(this.#last + 1, this.clock() * 1000);
    this.#entries.push({ id: `${Math.floor(this.#last / 1000)}-${this.#last % 1000}`, text });
  }
}
