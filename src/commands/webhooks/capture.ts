import { UsageError } from '../../errors.ts';
import { trim } from '../../webhook/headers.ts';

/** Headers in their original order and spelling, including duplicates. */
export type HeaderPairs = readonly (readonly [string, string])[];

const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:(.*)$/;
/** `POST /hook HTTP/1.1`, `HTTP/2 200`. */
const startLine = /^(?:[A-Z]+ \S+ HTTP\/\d(?:\.\d)?|HTTP\/\d(?:\.\d)?(?: .*)?)$/;

/** Extracts the header lines from the output of `curl -v`: `> ` marks the request, `< ` the response. */
function curlLines(lines: readonly string[]): readonly string[] {
  const marked = lines.filter((line) => /^[<>] /.test(line));
  const isVerbose = marked.some((line) => startLine.test(line.slice(2)));
  return isVerbose ? marked.map((line) => line.slice(2)) : lines;
}

/**
 * Parses header lines. Skips a request or status line before them and unfolds folded lines. Of several blocks, as
 * `curl -D` writes for redirects, returns the last.
 * @param invalidLine makes the error for a line, counted from 1
 */
export function parseHeaderLines(
  lines: readonly string[],
  invalidLine: (line: number) => Error,
): HeaderPairs {
  let pairs: [string, string][] = [];
  let ended = false;
  for (const [index, line] of curlLines(lines).entries()) {
    if (startLine.test(line)) {
      pairs = [];
      ended = false;
      continue;
    }
    if (line.trim() === '') {
      ended = pairs.length > 0;
      continue;
    }
    // Ignore the body after the blank line.
    if (ended) continue;
    const last = pairs.at(-1);
    const match = headerLine.exec(last === undefined ? line.trimStart() : line);
    if (match !== null) pairs.push([match[1] ?? '', trim(match[2] ?? '')]);
    else if (last !== undefined && /^[ \t]/.test(line)) last[1] += ` ${line.trim()}`;
    else throw invalidLine(index + 1);
  }
  return pairs;
}

/** A captured HTTP request with its body as a stream. */
interface Capture {
  headers: HeaderPairs;
  body: AsyncIterable<Uint8Array>;
}

/** More than any server accepts. */
const maxHeadBytes = 256 * 1024;
/** The limit for the line with the size of a chunk. */
const maxSizeLine = 4096;
const sizeLine = /^([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?$/;

function invalidCapture(
  message: string,
  hint = 'a capture consists of the request line, the headers, a blank line, and the body exactly as it was sent',
): UsageError {
  return new UsageError(`--request-file: ${message}`, { hint });
}

function invalidChunks(message: string): UsageError {
  return invalidCapture(
    `the chunked body is invalid: ${message}`,
    'the capture is incomplete or its line breaks were changed; if the body is already decoded, remove the Transfer-Encoding header',
  );
}

/** Reads lines and bytes from a stream of parts, which are valid only until the next part is requested. */
class Reader {
  #left: Buffer = Buffer.alloc(0);
  readonly #parts: AsyncIterator<Uint8Array>;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#parts = source[Symbol.asyncIterator]();
  }

  async #more(): Promise<boolean> {
    const left = Buffer.from(this.#left);
    this.#left = left;
    const { done, value } = await this.#parts.next();
    if (done === true) return false;
    const part = Buffer.from(value.buffer, value.byteOffset, value.length);
    this.#left = left.length === 0 ? part : Buffer.concat([left, part]);
    return true;
  }

  /** Consumes the next line if it matches the pattern, without its line break; null if it does not. */
  async line(pattern: RegExp, maxLength: number): Promise<RegExpExecArray | null> {
    let end = this.#left.indexOf('\n');
    while (end < 0 && this.#left.length <= maxLength && (await this.#more())) end = this.#left.indexOf('\n');
    if (end < 0 || end > maxLength) return null;
    const found = pattern.exec(this.#left.toString('latin1', 0, end).replace(/\r$/, ''));
    if (found !== null) this.#left = this.#left.subarray(end + 1);
    return found;
  }

  /** Yields the next `count` bytes, or the rest; returns how many are missing. */
  async *bytes(count: number): AsyncGenerator<Uint8Array, number> {
    let missing = count;
    while (missing > 0 && (this.#left.length > 0 || (await this.#more()))) {
      const part = this.#left.subarray(0, missing);
      this.#left = this.#left.subarray(part.length);
      missing -= part.length;
      yield part;
    }
    return missing;
  }

  async isAtEnd(): Promise<boolean> {
    return this.#left.length === 0 && !(await this.#more());
  }

  async close(): Promise<void> {
    await this.#parts.return?.();
  }
}

async function readHead(reader: Reader): Promise<HeaderPairs> {
  const lines: string[] = [];
  let left = maxHeadBytes;
  for (;;) {
    const [line] = (await reader.line(/^.*$/s, left)) ?? [];
    if (line === undefined) throw invalidCapture('no blank line follows the headers');
    if (line === '' && lines.length > 0) break;
    // An editor may have added a byte order mark, here in Latin-1.
    lines.push(lines.length === 0 ? line.replace(/^\xef\xbb\xbf/, '') : line);
    left -= line.length;
  }
  return parseHeaderLines(lines, (line) =>
    invalidCapture(`line ${line} is neither a request line nor a header`),
  );
}

function valuesOf(headers: HeaderPairs, name: string): string[] {
  return headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value);
}

/** Returns the length of the body by its headers; infinite without a length, since the body is then the rest. */
function lengthOf(headers: HeaderPairs): number | 'chunked' {
  if (/\bchunked\s*$/i.test(valuesOf(headers, 'transfer-encoding').join(','))) return 'chunked';
  const [value, ...others] = new Set(valuesOf(headers, 'content-length'));
  if (value === undefined) return Number.POSITIVE_INFINITY;
  if (others.length === 0 && /^\d{1,15}$/.test(value)) return Number(value);
  throw invalidCapture('its Content-Length is not a single number');
}

/** Decodes a chunked body. Some tools save the header but decode the body: without a chunk size, yields it unchanged. */
async function* chunks(reader: Reader, note: (line: string) => void): AsyncGenerator<Uint8Array> {
  let size = await reader.line(sizeLine, maxSizeLine);
  if (size === null) {
    note('the Transfer-Encoding is chunked, but the body is not: reading the body unchanged');
    yield* reader.bytes(Number.POSITIVE_INFINITY);
    return;
  }
  for (;;) {
    if (size === null) throw invalidChunks('the size of a chunk is missing');
    const length = Number.parseInt(size[1] ?? '', 16);
    // Trailers follow the last chunk; they are not signed.
    if (length === 0) return;
    const missing = yield* reader.bytes(length);
    if (missing > 0) throw invalidChunks(`${missing} bytes of a chunk are missing`);
    const end = await reader.line(/^$/, maxSizeLine);
    if (end === null) throw invalidChunks('a chunk is longer than its size');
    size = await reader.line(sizeLine, maxSizeLine);
  }
}

async function* readBody(
  reader: Reader,
  length: number | 'chunked',
  note: (line: string) => void,
): AsyncGenerator<Uint8Array> {
  try {
    if (length === 'chunked') return yield* chunks(reader, note);
    const missing = yield* reader.bytes(length);
    if (missing > 0 && length < Number.POSITIVE_INFINITY) {
      throw invalidCapture(
        `the body is ${missing} bytes shorter than its Content-Length of ${length}`,
        'the capture is incomplete or its line breaks were changed; capture the bytes unchanged',
      );
    }
    if (!(await reader.isAtEnd())) {
      note(`ignored what follows the ${length} bytes of the Content-Length`);
    }
  } finally {
    await reader.close();
  }
}

/**
 * Parses a captured request. Its body is the content of the chunks, the number of bytes in `Content-Length`, or else the
 * rest of the file.
 * @param note receives remarks for the user
 */
export async function readCapture(
  source: AsyncIterable<Uint8Array>,
  note: (line: string) => void,
): Promise<Capture> {
  const reader = new Reader(source);
  try {
    const headers = await readHead(reader);
    return { headers, body: readBody(reader, lengthOf(headers), note) };
  } catch (error) {
    await reader.close();
    throw error;
  }
}
