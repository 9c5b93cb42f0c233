import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** More than this is not unpacked: a small body may be a bomb. */
const mostUnpacked = 64 * 1024 * 1024;

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

/** The text, where the bytes are UTF-8 and nothing else; a byte order mark is kept. */
export function strictText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export const bytes = (content: string) => new TextEncoder().encode(content);

const latin1 = (body: Uint8Array) =>
  Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
const fromLatin1 = (content: string): Uint8Array => Buffer.from(content, 'latin1');

/** Each byte is one character in latin1, so that what is about bytes can be said in patterns. */
function edit(body: Uint8Array, pattern: RegExp, to: string): Uint8Array | null {
  const before = latin1(body);
  const after = before.replace(pattern, to);
  return after === before ? null : fromLatin1(after);
}

const present = (list: readonly (Uint8Array | null)[]) => list.filter((one) => one !== null);

/** Without the bytes at its end, and where asked at its beginning, that are among these. */
function strip(body: Uint8Array, among: string, both: boolean): Uint8Array {
  // By hand: a pattern that ends in $ takes quadratic time on a body made for it.
  const isAmong = (at: number) => among.includes(String.fromCharCode(body[at] ?? 0));
  let [start, end] = [0, body.length];
  while (both && start < end && isAmong(start)) start += 1;
  while (end > start && isAmong(end - 1)) end -= 1;
  return body.subarray(start, end);
}

const onlyChanged = (body: Uint8Array, list: readonly Uint8Array[]) =>
  list.filter((one) => one.length !== body.length);

export function withoutNewline(body: Uint8Array): Uint8Array[] {
  const [last, before] = [body.at(-1), body.at(-2)];
  const one = last !== 10 ? 0 : before === 13 ? 2 : 1;
  return onlyChanged(body, [body.subarray(0, body.length - one), strip(body, '\r\n', false)]);
}

export function withNewline(body: Uint8Array): Uint8Array[] {
  return [Buffer.concat([body, bytes('\n')]), Buffer.concat([body, bytes('\r\n')])];
}

export function trimmed(body: Uint8Array): Uint8Array[] {
  return onlyChanged(body, [strip(body, ' \t\r\n', true)]);
}

export function toCrlf(body: Uint8Array): Uint8Array[] {
  return present([edit(body, /\r?\n/g, '\r\n')]);
}

export function toLf(body: Uint8Array): Uint8Array[] {
  return present([edit(body, /\r\n?/g, '\n')]);
}

const mark = Uint8Array.of(0xef, 0xbb, 0xbf);
const hasMark = (body: Uint8Array) => mark.every((byte, index) => body[index] === byte);

export function withoutMark(body: Uint8Array): Uint8Array[] {
  return hasMark(body) ? [body.subarray(3)] : [];
}

export function withMark(body: Uint8Array): Uint8Array[] {
  return hasMark(body) ? [] : [Buffer.concat([mark, body])];
}

/** UTF-8 that was read as latin1 and written as UTF-8 once more: `Ã©` for `é`. */
export function unmangled(body: Uint8Array): Uint8Array[] {
  const content = strictText(body);
  if (content === null || !/[\u0080-\u00ff]/.test(content) || /[^\u0000-\u00ff]/.test(content)) return [];
  return [fromLatin1(content)];
}

/** Text that came in latin1 although UTF-8 was signed. */
export function fromLatin1Body(body: Uint8Array): Uint8Array[] {
  return strictText(body) === null ? [bytes(latin1(body))] : [];
}

/** UTF-16 that came although UTF-8 was signed. */
export function fromUtf16(body: Uint8Array): Uint8Array[] {
  if (body.length < 2 || body.length % 2 !== 0) return [];
  const isMarked = body[0] === 0xff && body[1] === 0xfe;
  if (!isMarked && body[1] !== 0) return [];
  return [bytes(new TextDecoder('utf-16le').decode(body))];
}

export function unpacked(body: Uint8Array): Uint8Array[] {
  const options = { maxOutputLength: mostUnpacked };
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  // Of the others only zlib has a mark, and it is a weak one; text is none of them.
  const ways = isGzip
    ? [gunzipSync]
    : strictText(body) === null
      ? [inflateSync, brotliDecompressSync, inflateRawSync]
      : [];
  return ways.flatMap((way) => {
    try {
      return [way(body, options)];
    } catch {
      return [];
    }
  });
}

export function fromBase64(body: Uint8Array): Uint8Array[] {
  const content = latin1(body).trim();
  return content.length >= 4 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(content)
    ? [Buffer.from(content, 'base64')]
    : [];
}

/** A body that is one JSON string, which holds the body. */
export function fromJsonString(body: Uint8Array): Uint8Array[] {
  const content = text(body).trim();
  if (!content.startsWith('"')) return [];
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'string' ? [bytes(value)] : [];
  } catch {
    return [];
  }
}

/** The body behind headers that were saved with it. */
export function withoutHead(body: Uint8Array): Uint8Array[] {
  const content = latin1(body);
  if (!/^(?:[A-Z]+ \S+ HTTP\/|HTTP\/|[A-Za-z-]+: )/.test(content)) return [];
  const [crlf, lf] = [content.indexOf('\r\n\r\n'), content.indexOf('\n\n')];
  return [crlf < 0 ? [] : [body.subarray(crlf + 4)], lf < 0 ? [] : [body.subarray(lf + 2)]].flat();
}
