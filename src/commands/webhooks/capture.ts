import { count } from '../../count.ts';
import { UsageError } from '../../errors.ts';
import { trim } from '../../webhook/headers.ts';

/** Headers in their original order and spelling, including duplicates. */
export type HeaderPairs = readonly (readonly [string, string])[];

export interface CapturedRequest {
  method: string;
  target: string;
  httpVersion: string;
  headers: HeaderPairs;
  body: Uint8Array;
}

/** Formats a request as HTTP text for `readCapture`. A chunked body gets a Content-Length. */
export function writeCapture({ method, target, httpVersion, headers, body }: CapturedRequest): Uint8Array {
  const lines = headers.map(([name, value]) =>
    name.toLowerCase() === 'transfer-encoding'
      ? `Content-Length: ${body.length}\r\n`
      : `${name}: ${value}\r\n`,
  );
  const head = `${method} ${target} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:(.*)$/;
/** `POST /hook HTTP/1.1`, `HTTP/2 200`. */
const startLine = /^(?:[A-Z]+ \S+ HTTP\/\d(?:\.\d)?|HTTP\/\d(?:\.\d)?(?: .*)?)$/;

/**
 * Parses header lines up to the first blank line after them. Skips a request or status line before them.
 * @param invalidLine makes the error for a line, counted from 1
 */
export function parseHeaderLines(text: string, invalidLine: (line: number) => Error): HeaderPairs {
  const pairs: [string, string][] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const isBlank = line.trim() === '';
    if (pairs.length === 0 && (isBlank || startLine.test(line))) continue;
    if (isBlank) break;
    const match = headerLine.exec(line);
    if (match === null) throw invalidLine(index + 1);
    pairs.push([match[1] ?? '', trim(match[2] ?? '')]);
  }
  return pairs;
}

/** More than any server accepts. */
const maxHeadBytes = 256 * 1024;

function invalidCapture(
  message: string,
  hint = 'the capture is incomplete or its line breaks were changed; capture the bytes unchanged',
): UsageError {
  return new UsageError(`--request-file: ${message}`, { hint });
}

/** Returns the number of bytes in `Content-Length`, or else the rest of the file. */
function capturedBody(rest: Buffer, headers: HeaderPairs, note: (line: string) => void): Uint8Array {
  const headerOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  const isChunk = /^[0-9a-f]+\s*\r?\n/i.test(rest.toString('latin1', 0, 32));
  if (isChunk && headerOf('transfer-encoding') !== undefined) {
    throw invalidCapture('the body is chunked', 'save the decoded body, without the chunk sizes');
  }
  const value = headerOf('content-length');
  if (value === undefined) return rest;
  if (!/^\d{1,15}$/.test(value)) throw invalidCapture('its Content-Length is not a number');
  const missing = Number(value) - rest.length;
  if (missing > 0) {
    throw invalidCapture(`the body is ${count(missing, 'byte')} shorter than its Content-Length of ${value}`);
  }
  if (missing < 0) note(`ignored everything beyond the Content-Length of ${count(Number(value), 'byte')}`);
  return rest.subarray(0, Number(value));
}

/** @param note receives remarks for the user */
export function readCapture(
  bytes: Uint8Array,
  note: (line: string) => void,
): Pick<CapturedRequest, 'headers' | 'body'> {
  const hint =
    'a capture consists of the request line, the headers, a blank line, and the body exactly as it was sent';
  const capture = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  // Up to the first blank line after a line. An editor may have added a byte order mark, here in Latin-1.
  const head = /^(?:\xef\xbb\xbf)?([^\n]*\n(?:(?!\r?\n)[^\n]*\n)*)\r?\n/.exec(
    capture.toString('latin1', 0, maxHeadBytes),
  );
  if (head === null) throw invalidCapture('no blank line follows the headers', hint);
  const headers = parseHeaderLines(String(head[1]), (line) =>
    invalidCapture(`line ${line} is neither a request line nor a header`, hint),
  );
  return { headers, body: capturedBody(capture.subarray(head[0].length), headers, note) };
}
