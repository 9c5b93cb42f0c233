import { brotliDecompressSync, inflateRawSync, unzipSync } from 'node:zlib';
import type { Undo } from './causes.ts';

/** More than this is not unpacked: a small body may be a bomb. */
const mostUnpacked = 64 * 1024 * 1024;

const mark = Uint8Array.of(0xef, 0xbb, 0xbf);
const hasMark = (body: Uint8Array) => mark.every((byte, index) => body[index] === byte);

/** Each byte is one character in latin1, so that patterns can be about bytes. */
const latin1 = (body: Uint8Array) =>
  Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');

const edit = (body: Uint8Array, pattern: RegExp, to: string) =>
  Buffer.from(latin1(body).replace(pattern, to), 'latin1');

/** The text, where the bytes are UTF-8 and nothing else; a byte order mark is kept. */
export function strictText(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}

/** By hand: a pattern that ends in $ takes quadratic time on a body made for it. */
function withoutEnd(body: Uint8Array, among: string): Uint8Array {
  let end = body.length;
  while (end > 0 && among.includes(String.fromCharCode(body[end - 1] ?? 0))) end -= 1;
  return body.subarray(0, end);
}

function trimmed(body: Uint8Array): Uint8Array {
  const rest = withoutEnd(body, ' \t\r\n');
  return rest.subarray(latin1(rest).search(/[^ \t\r\n]/));
}

function unpacked(body: Uint8Array): Uint8Array[] {
  // Not all of the formats have a mark to know them by, but none of them is text.
  if (strictText(body) !== null) return [];
  return [unzipSync, brotliDecompressSync, inflateRawSync].flatMap((unpack) => {
    try {
      return [unpack(body, { maxOutputLength: mostUnpacked })];
    } catch {
      return [];
    }
  });
}

/** What a body holds that is one JSON string. */
function jsonString(body: Uint8Array): Uint8Array[] {
  const content = strictText(body)?.trim() ?? '';
  if (!content.startsWith('"')) return [];
  try {
    return [Buffer.from(JSON.parse(content))];
  } catch {
    return [];
  }
}

/** What stands behind the headers, where the body begins with some. */
function withoutHead(body: Uint8Array): Uint8Array[] {
  const content = latin1(body);
  if (!/^(?:[A-Z]+ \S+ HTTP\/|HTTP\/|[A-Za-z-]+: )/.test(content)) return [];
  return ['\r\n\r\n', '\n\n'].flatMap((blank) => {
    const at = content.indexOf(blank);
    return at < 0 ? [] : [body.subarray(at + blank.length)];
  });
}

/** Small changes at the ends and line breaks, which come together with others. */
export const endings: Undo<Uint8Array> = {
  newline_added: (body) => [edit(body, /\r?\n$/, ''), withoutEnd(body, '\r\n')],
  newline_stripped: (body) => ['\n', '\r\n'].map((end) => Buffer.concat([body, Buffer.from(end)])),
  lf_became_crlf: (body) => [edit(body, /\r\n?/g, '\n')],
  crlf_became_lf: (body) => [edit(body, /\r?\n/g, '\r\n')],
  bom_added: (body) => (hasMark(body) ? [body.subarray(mark.length)] : []),
  bom_stripped: (body) => (hasMark(body) ? [] : [Buffer.concat([mark, body])]),
};

/** What is around the whole body, and hides every other mistake. */
export const wrappings: Undo<Uint8Array> = {
  compressed: unpacked,
  decoded_as_latin1: (body) => {
    const content = strictText(body);
    return content === null || /[^\u0000-\u00ff]/.test(content) ? [] : [Buffer.from(content, 'latin1')];
  },
  encoded_as_latin1: (body) => (strictText(body) === null ? [Buffer.from(latin1(body))] : []),
  encoded_as_utf16: (body) => {
    const isUtf16 = body.length % 2 === 0 && (body[1] === 0 || (body[0] === 0xff && body[1] === 0xfe));
    return isUtf16 ? [Buffer.from(new TextDecoder('utf-16le').decode(body))] : [];
  },
  base64_body: (body) => {
    const content = latin1(body).trim();
    return /^[A-Za-z0-9+/_-]{2,}={0,2}$/.test(content) ? [Buffer.from(content, 'base64')] : [];
  },
  json_string: jsonString,
  headers_in_body: withoutHead,
};

export const bodyUndo: Undo<Uint8Array> = {
  ...endings,
  white_space_added: (body) => [trimmed(body)],
  ...wrappings,
};
