import { brotliDecompressSync, inflateRawSync, unzipSync } from 'node:zlib';
import type { Undo } from './causes.ts';

/** The limit for decompression, since a small body may be a zip bomb. */
const maxUnpackedBytes = 64 * 1024 * 1024;

const bom = Uint8Array.of(0xef, 0xbb, 0xbf);
const hasBom = (body: Uint8Array) => bom.every((byte, index) => body[index] === byte);

/** Decodes each byte to one character, so that patterns match bytes. */
const latin1 = (body: Uint8Array) =>
  Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');

const edit = (body: Uint8Array, pattern: RegExp, to: string) =>
  Buffer.from(latin1(body).replace(pattern, to), 'latin1');

/** Decodes UTF-8 and keeps a byte order mark. Returns null for bytes that are not UTF-8. */
export function strictText(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}

/** Removes characters from the end. No regex: a pattern that ends in $ is quadratic on hostile input. */
function trimEnd(body: Uint8Array, among: string): Uint8Array {
  let end = body.length;
  while (end > 0 && among.includes(String.fromCharCode(body[end - 1] ?? 0))) end -= 1;
  return body.subarray(0, end);
}

function trimBoth(body: Uint8Array): Uint8Array {
  const rest = trimEnd(body, ' \t\r\n');
  return rest.subarray(latin1(rest).search(/[^ \t\r\n]/));
}

function decompress(body: Uint8Array): Uint8Array[] {
  // Not all of the formats have magic bytes, but compressed data is never UTF-8 text.
  if (strictText(body) !== null) return [];
  return [unzipSync, brotliDecompressSync, inflateRawSync].flatMap((unpack) => {
    try {
      return [unpack(body, { maxOutputLength: maxUnpackedBytes })];
    } catch {
      return [];
    }
  });
}

/** Returns what follows the headers if the body begins with headers. */
function withoutHeaders(body: Uint8Array): Uint8Array[] {
  const content = latin1(body);
  if (!/^(?:[A-Z]+ \S+ HTTP\/|HTTP\/|[A-Za-z-]+: )/.test(content)) return [];
  return ['\r\n\r\n', '\n\n'].flatMap((blank) => {
    const at = content.indexOf(blank);
    return at < 0 ? [] : [body.subarray(at + blank.length)];
  });
}

/** Changes of the ends and line breaks, which often occur together with other mistakes. */
export const endings: Undo<Uint8Array> = {
  newline_added: (body) => [edit(body, /\r?\n$/, ''), trimEnd(body, '\r\n')],
  newline_stripped: (body) => ['\n', '\r\n'].map((end) => Buffer.concat([body, Buffer.from(end)])),
  lf_became_crlf: (body) => [edit(body, /\r\n?/g, '\n')],
  crlf_became_lf: (body) => [edit(body, /\r?\n/g, '\r\n')],
  bom_added: (body) => (hasBom(body) ? [body.subarray(bom.length)] : []),
};

/** Encodings of the whole body, which hide every other mistake. */
export const wrappings: Undo<Uint8Array> = {
  compressed: decompress,
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
  headers_in_body: withoutHeaders,
};

export const bodyUndo: Undo<Uint8Array> = {
  ...endings,
  white_space_added: (body) => [trimBoth(body)],
  ...wrappings,
};
