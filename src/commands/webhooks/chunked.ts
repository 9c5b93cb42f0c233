import { UsageError } from '../../errors.ts';

const sizeLine = /^([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?$/;
const longestLine = 4096;

function broken(message: string): UsageError {
  return new UsageError(`--request-file: its body is not in whole chunks: ${message}`, {
    hint: 'the capture is incomplete, or its line ends were changed; a body that was decoded already needs no Transfer-Encoding',
  });
}

/** Reads lines and bytes from parts of any size, and copies only what is left of one when the next is asked for. */
class Reader {
  #left: Buffer = Buffer.alloc(0);
  readonly #parts: AsyncIterator<Uint8Array>;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#parts = source[Symbol.asyncIterator]();
  }

  async #more(): Promise<boolean> {
    const left = Buffer.from(this.#left);
    this.#left = left;
    const next = await this.#parts.next();
    if (next.done === true) return false;
    this.#left =
      left.length === 0
        ? Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length)
        : Buffer.concat([left, next.value]);
    return true;
  }

  /** The next line without its end, or null when there is none of a sensible length; then nothing is taken. */
  async line(): Promise<string | null> {
    let end = this.#left.indexOf('\n');
    while (end < 0 && this.#left.length <= longestLine && (await this.#more()))
      end = this.#left.indexOf('\n');
    if (end < 0 || end > longestLine) return null;
    const text = this.#left.toString('latin1', 0, end).replace(/\r$/, '');
    return text;
  }

  /** Takes the line that `line` gave. */
  drop(): void {
    this.#left = this.#left.subarray(this.#left.indexOf('\n') + 1);
  }

  /** Up to `most` of the bytes that are there; null at the end. */
  async bytes(most: number): Promise<Uint8Array | null> {
    if (this.#left.length === 0 && !(await this.#more())) return null;
    const part = this.#left.subarray(0, most);
    this.#left = this.#left.subarray(part.length);
    return part;
  }

  async close(): Promise<void> {
    await this.#parts.return?.();
  }
}

/**
 * The body of a chunked message. Some tools write down the header and the body decoded: what does not begin with
 * the size of a chunk is taken as it is.
 */
export async function* decodeChunked(
  source: AsyncIterable<Uint8Array>,
  remark: (line: string) => void,
): AsyncGenerator<Uint8Array> {
  const reader = new Reader(source);
  try {
    for (let first = true; ; first = false) {
      const line = await reader.line();
      const size = line === null ? null : sizeLine.exec(line);
      if (size === null && first) {
        remark('its Transfer-Encoding is chunked, but its body has no chunks: it is taken as it is');
        for (let part = await reader.bytes(Infinity); part !== null; part = await reader.bytes(Infinity))
          yield part;
        return;
      }
      if (size === null) throw broken('the size of a chunk is missing');
      reader.drop();
      let left = Number.parseInt(size[1] ?? '', 16);
      // What follows the last chunk are trailers, which are not signed.
      if (left === 0) return;
      while (left > 0) {
        const part = await reader.bytes(left);
        if (part === null) throw broken(`${left} bytes of a chunk are missing`);
        left -= part.length;
        yield part;
      }
      if ((await reader.line()) !== '') throw broken('a chunk is longer than its size');
      reader.drop();
    }
  } finally {
    await reader.close();
  }
}
