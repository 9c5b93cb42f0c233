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
export function parseHeaderLines(text: string, complain: (line: number, text: string) => Error): HeaderPairs {
  let pairs: [string, string][] = [];
  let ended = false;
  for (const [index, line] of curlLines(text.split(/\r?\n/)).entries()) {
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
    else throw complain(index + 1, line);
  }
  return pairs;
}

/** A captured HTTP request: its headers, and its body as it comes. */
export interface Capture {
  headers: HeaderPairs;
  body: AsyncIterable<Uint8Array>;
}

/** More than any server takes. */
const mostHeadBytes = 256 * 1024;

export function wrongCapture(message: string, hint?: string): UsageError {
  return new UsageError(`--request-file: ${message}`, {
    hint:
      hint ?? 'a capture is the request line, the headers, a blank line, and the body exactly as it was sent',
  });
}

/** Where the blank line after the headers ends, or -1. */
function endOfHead(bytes: Buffer): number {
  const [crlf, lf] = [bytes.indexOf('\r\n\r\n'), bytes.indexOf('\n\n')];
  if (lf >= 0 && (crlf < 0 || lf < crlf)) return lf + 2;
  return crlf < 0 ? -1 : crlf + 4;
}

function valuesOf(headers: HeaderPairs, name: string): string[] {
  return headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value);
}

function contentLength(headers: HeaderPairs): number | null {
  const values = [...new Set(valuesOf(headers, 'content-length'))];
  if (values.length === 0) return null;
  const [value = ''] = values;
  if (values.length > 1 || !/^\d{1,15}$/.test(value))
    throw wrongCapture('its Content-Length is not one number');
  return Number(value);
}

/** Exactly as many bytes; what an editor put behind them is not part of the request. */
async function* exactly(
  length: number,
  source: AsyncIterable<Uint8Array>,
  onRest: () => void,
): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const chunk of source) {
    if (chunk.length > left) onRest();
    const part = chunk.subarray(0, left);
    left -= part.length;
    if (part.length > 0) yield part;
    if (chunk.length > part.length) return;
  }
  if (left === 0) return;
  throw wrongCapture(
    `it ends ${left} bytes before its Content-Length of ${length}`,
    'the capture is incomplete, or its line ends were changed: capture the bytes as they are',
  );
}

async function* startingWith(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (first.length > 0) yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

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

/**
 * Takes a captured request apart. Its body is the rest of the file, or as many bytes as `Content-Length` says, or
 * what the chunks hold. `remark` is told what a person should know of it.
 */
export async function readCapture(
  source: AsyncIterable<Uint8Array>,
  remark: (line: string) => void,
): Promise<Capture> {
  const parts = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  let end = -1;
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
    head = Buffer.concat([head, next.value]);
    end = endOfHead(head);
    if (end >= 0) break;
    if (head.length > mostHeadBytes) break;
  }
  if (end < 0) {
    await parts.return?.();
    throw wrongCapture('no blank line ends its headers');
  }
  const headers = parseHeaderLines(head.toString('latin1', 0, end), (line) =>
    wrongCapture(`line ${line} is neither a request line nor a header`),
  );
  const rest = startingWith(head.subarray(end), parts);
  const codings = valuesOf(headers, 'transfer-encoding').join(',');
  if (/\bchunked\s*$/i.test(codings)) return { headers, body: decodeChunked(rest, remark) };
  const length = contentLength(headers);
  if (length === null) return { headers, body: rest };
  const onRest = () => remark(`what stands behind the ${length} bytes of its Content-Length was left out`);
  return { headers, body: exactly(length, rest, onRest) };
}

/** A request that was received, as the text that it was. */
export interface Received {
  method: string;
  target: string;
  httpVersion: string;
  /** Names and values in turn, as they came. */
  rawHeaders: readonly string[];
  body: Uint8Array;
}

/** The request as HTTP text: what `readCapture` reads. A body that came in chunks is written as one. */
export function writeCapture({ method, target, httpVersion, rawHeaders, body }: Received): Uint8Array {
  const lines = [`${method} ${target} HTTP/${httpVersion}`];
  let chunked = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    chunked ||= name.toLowerCase() === 'transfer-encoding' && /\bchunked\s*$/i.test(value);
    lines.push(`${name}: ${value}`);
  }
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (!chunked) return Buffer.concat([head, body]);
  const chunk =
    body.length === 0 ? [] : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')];
  return Buffer.concat([head, ...chunk, Buffer.from('0\r\n\r\n')]);
}
