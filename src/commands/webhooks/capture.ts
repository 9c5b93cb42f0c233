import { UsageError } from '../../errors.ts';
import { trim } from '../../webhook/headers.ts';

/** Headers as they were written, in their order, those of one name too. */
export type HeaderPairs = readonly (readonly [string, string])[];

const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:(.*)$/;
/** `POST /hook HTTP/1.1`, `HTTP/2 200`. */
const startLine = /^(?:[A-Z]+ \S+ HTTP\/\d(?:\.\d)?|HTTP\/\d(?:\.\d)?(?: .*)?)$/;

/** The headers among lines that `curl -v` wrote: `> ` what was sent, `< ` what came; the rest is curl's own talk. */
function curlLines(lines: readonly string[]): readonly string[] {
  const marked = lines.filter((line) => /^[<>] /.test(line));
  const isVerbose = marked.some((line) => startLine.test(line.slice(2)));
  return isVerbose ? marked.map((line) => line.slice(2)) : lines;
}

/**
 * Headers from lines: a request or status line in front is passed over, a folded line belongs to the one before. Of
 * several blocks, as `curl -D` writes them along redirects, the last counts.
 */
export function parseHeaderLines(lines: readonly string[], complain: (line: number) => Error): HeaderPairs {
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
    // What follows the blank line is a body, and none of our business.
    if (ended) continue;
    const last = pairs.at(-1);
    const match = headerLine.exec(last === undefined ? line.trimStart() : line);
    if (match !== null) pairs.push([match[1] ?? '', trim(match[2] ?? '')]);
    else if (last !== undefined && /^[ \t]/.test(line)) last[1] += ` ${line.trim()}`;
    else throw complain(index + 1);
  }
  return pairs;
}

/** A captured HTTP request: its headers, and its body as it comes. */
interface Capture {
  headers: HeaderPairs;
  body: AsyncIterable<Uint8Array>;
}

/** More than any server takes. */
const mostHeadBytes = 256 * 1024;
/** Of a line that has the size of a chunk. */
const longestSizeLine = 4096;
const sizeLine = /^([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?$/;

function wrongCapture(
  message: string,
  hint = 'a capture is the request line, the headers, a blank line, and the body exactly as it was sent',
): UsageError {
  return new UsageError(`--request-file: ${message}`, { hint });
}

function wrongChunks(message: string): UsageError {
  return wrongCapture(
    `its body is not in whole chunks: ${message}`,
    'the capture is incomplete, or its line ends were changed; a body that was decoded already needs no Transfer-Encoding',
  );
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
    const { done, value } = await this.#parts.next();
    if (done === true) return false;
    const part = Buffer.from(value.buffer, value.byteOffset, value.length);
    this.#left = left.length === 0 ? part : Buffer.concat([left, part]);
    return true;
  }

  /** Takes the next line, without its end, if it fits the pattern. */
  async line(pattern: RegExp, longest: number): Promise<RegExpExecArray | null> {
    let end = this.#left.indexOf('\n');
    while (end < 0 && this.#left.length <= longest && (await this.#more())) end = this.#left.indexOf('\n');
    if (end < 0 || end > longest) return null;
    const found = pattern.exec(this.#left.toString('latin1', 0, end).replace(/\r$/, ''));
    if (found !== null) this.#left = this.#left.subarray(end + 1);
    return found;
  }

  /** As many bytes, or all that are left; returns how many are missing. */
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
  let left = mostHeadBytes;
  for (;;) {
    const [line] = (await reader.line(/^.*$/s, left)) ?? [];
    if (line === undefined) throw wrongCapture('no blank line ends its headers');
    if (line === '' && lines.length > 0) break;
    lines.push(line);
    left -= line.length;
  }
  return parseHeaderLines(lines, (line) =>
    wrongCapture(`line ${line} is neither a request line nor a header`),
  );
}

function valuesOf(headers: HeaderPairs, name: string): string[] {
  return headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value);
}

/** The length that its headers give the body; without one, the body is the rest. */
function lengthOf(headers: HeaderPairs): number | 'chunked' {
  if (/\bchunked\s*$/i.test(valuesOf(headers, 'transfer-encoding').join(','))) return 'chunked';
  const [value, ...others] = new Set(valuesOf(headers, 'content-length'));
  if (value === undefined) return Number.POSITIVE_INFINITY;
  if (others.length === 0 && /^\d{1,15}$/.test(value)) return Number(value);
  throw wrongCapture('its Content-Length is not one number');
}

/** Some tools write down the header and the body decoded: a body that does not begin with a size is taken as it is. */
async function* chunks(reader: Reader, remark: (line: string) => void): AsyncGenerator<Uint8Array> {
  let size = await reader.line(sizeLine, longestSizeLine);
  if (size === null) {
    remark('its Transfer-Encoding is chunked, but its body has no chunks: it is taken as it is');
    yield* reader.bytes(Number.POSITIVE_INFINITY);
    return;
  }
  for (;;) {
    if (size === null) throw wrongChunks('the size of a chunk is missing');
    const length = Number.parseInt(size[1] ?? '', 16);
    // What follows the last chunk are trailers, which are not signed.
    if (length === 0) return;
    const missing = yield* reader.bytes(length);
    if (missing > 0) throw wrongChunks(`${missing} bytes of a chunk are missing`);
    const end = await reader.line(/^$/, longestSizeLine);
    if (end === null) throw wrongChunks('a chunk is longer than its size');
    size = await reader.line(sizeLine, longestSizeLine);
  }
}

async function* readBody(
  reader: Reader,
  length: number | 'chunked',
  remark: (line: string) => void,
): AsyncGenerator<Uint8Array> {
  try {
    if (length === 'chunked') return yield* chunks(reader, remark);
    const missing = yield* reader.bytes(length);
    if (missing > 0 && length < Number.POSITIVE_INFINITY) {
      throw wrongCapture(
        `it ends ${missing} bytes before its Content-Length of ${length}`,
        'the capture is incomplete, or its line ends were changed: capture the bytes as they are',
      );
    }
    if (!(await reader.isAtEnd())) {
      remark(`what stands behind the ${length} bytes of its Content-Length was left out`);
    }
  } finally {
    await reader.close();
  }
}

/**
 * Takes a captured request apart. Its body is the rest of the file, or as many bytes as `Content-Length` says, or
 * what the chunks hold. `remark` is told what a person should know of it.
 */
export async function readCapture(
  source: AsyncIterable<Uint8Array>,
  remark: (line: string) => void,
): Promise<Capture> {
  const reader = new Reader(source);
  try {
    const headers = await readHead(reader);
    return { headers, body: readBody(reader, lengthOf(headers), remark) };
  } catch (error) {
    await reader.close();
    throw error;
  }
}
