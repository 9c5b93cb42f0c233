const smallest = 16 * 1024;

/** Collects chunks of bytes in one growing buffer. A list of one-byte chunks would take a hundred times the memory. */
export class CollectedBytes {
  readonly #most: number;
  readonly #expected: number;
  #buffer: Uint8Array = new Uint8Array();
  #length = 0;

  /**
   * @param most the maximum number of bytes
   * @param expected the number of bytes that the sender announced, or NaN; not allocated before a second chunk arrives
   */
  constructor(most: number, expected = Number.NaN) {
    this.#most = most;
    this.#expected = expected > 0 ? Math.min(expected, most) : 0;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a chunk, or returns false if the bytes would exceed the maximum. */
  add(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#most) return false;
    if (this.#length === 0) {
      // Most bodies arrive in one chunk, which need not be copied.
      this.#buffer = chunk;
    } else {
      if (length > this.#buffer.length) this.#grow(length);
      this.#buffer.set(chunk, this.#length);
    }
    this.#length = length;
    return true;
  }

  #grow(length: number): void {
    const size = Math.max(length, this.#expected, Math.min(this.#most, Math.max(2 * this.#length, smallest)));
    const grown = new Uint8Array(size);
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }

  /** Returns the bytes collected so far, without copying them. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}
