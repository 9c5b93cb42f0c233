const smallest = 16 * 1024;

/** Bytes that come in chunks, in one buffer that grows. A list of one-byte chunks would take a hundred times as much. */
export class CollectedBytes {
  readonly #most: number;
  readonly #expected: number;
  #buffer: Uint8Array = new Uint8Array();
  #length = 0;

  /**
   * @param most bytes that there may be
   * @param expected bytes that the sender says there will be, or NaN; memory that it does not fill is not taken
   */
  constructor(most: number, expected = Number.NaN) {
    this.#most = most;
    this.#expected = expected > 0 ? Math.min(expected, most) : 0;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a chunk, or returns false when there would be too many bytes. */
  add(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#most) return false;
    if (this.#length === 0) {
      // Most bodies come in one piece, which need not be copied.
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

  /** What there is so far; it is not copied. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}
