import { UsageError } from '../../errors.ts';
import { decodeChunked } from './chunked.ts';
import { type HeaderPairs, parseHeaderLines } from './headers.ts';

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
