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

interface Capture {
  headers: HeaderPairs;
  body: Uint8Array;
}

/** More than any server accepts. */
const maxHeadBytes = 256 * 1024;

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

function headerValues(headers: HeaderPairs, name: string): string[] {
  return headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value);
}

/** Decodes a chunked body. Some tools save the header but decode the body: without a chunk size, returns it unchanged. */
function withoutChunks(rest: Buffer, note: (line: string) => void): Uint8Array {
  const body = Buffer.alloc(rest.length);
  let bytes = 0;
  let position = 0;
  const nextLine = () => {
    const end = rest.indexOf('\n', position);
    if (end < 0) return null;
    const line = rest.toString('latin1', position, end).replace(/\r$/, '');
    position = end + 1;
    return line;
  };
  for (;;) {
    const size = /^([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?$/.exec(nextLine() ?? '')?.[1];
    if (size === undefined && bytes === 0) {
      note('the Transfer-Encoding is chunked, but the body is not: reading the body unchanged');
      return rest;
    }
    if (size === undefined) throw invalidChunks('the size of a chunk is missing');
    const length = Number.parseInt(size, 16);
    // Trailers follow the last chunk; they are not signed.
    if (length === 0) return body.subarray(0, bytes);
    const missing = position + length - rest.length;
    if (missing > 0) throw invalidChunks(`${missing} bytes of a chunk are missing`);
    bytes += rest.copy(body, bytes, position, position + length);
    position += length;
    if (nextLine() !== '') throw invalidChunks('a chunk is longer than its size');
  }
}

/** Returns the content of the chunks, the number of bytes in `Content-Length`, or else the rest of the file. */
function capturedBody(rest: Buffer, headers: HeaderPairs, note: (line: string) => void): Uint8Array {
  if (/\bchunked\s*$/i.test(headerValues(headers, 'transfer-encoding').join(',')))
    return withoutChunks(rest, note);
  const [value, ...others] = new Set(headerValues(headers, 'content-length'));
  if (value === undefined) return rest;
  if (others.length > 0 || !/^\d{1,15}$/.test(value)) {
    throw invalidCapture('its Content-Length is not a single number');
  }
  const length = Number(value);
  if (rest.length < length) {
    throw invalidCapture(
      `the body is ${length - rest.length} bytes shorter than its Content-Length of ${length}`,
      'the capture is incomplete or its line breaks were changed; capture the bytes unchanged',
    );
  }
  if (rest.length > length) note(`ignored what follows the ${length} bytes of the Content-Length`);
  return rest.subarray(0, length);
}

/** @param note receives remarks for the user */
export function readCapture(bytes: Uint8Array, note: (line: string) => void): Capture {
  const capture = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  // Up to the first blank line after a line. An editor may have added a byte order mark, here in Latin-1.
  const head = /^(?:\xef\xbb\xbf)?([^\n]*\n(?:(?!\r?\n)[^\n]*\n)*)\r?\n/.exec(
    capture.toString('latin1', 0, maxHeadBytes),
  );
  if (head === null) throw invalidCapture('no blank line follows the headers');
  const headers = parseHeaderLines(String(head[1]).split(/\r?\n/), (line) =>
    invalidCapture(`line ${line} is neither a request line nor a header`),
  );
  return { headers, body: capturedBody(capture.subarray(head[0].length), headers, note) };
}
