import { brotliDecompressSync, inflateRawSync, unzipSync } from 'node:zlib';
import { type Candidate, candidatesOf, type Undo } from './causes.ts';
import { jsonCandidates } from './json.ts';

/** The limit for decompression, since a small body may be a zip bomb. */
const maxUnpackedBytes = 64 * 1024 * 1024;

/** Decodes each byte to one character, so that patterns match bytes. */
const latin1 = (body: Uint8Array) =>
  Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');

const edit = (body: Uint8Array, pattern: RegExp, to: string) =>
  Buffer.from(latin1(body).replace(pattern, to), 'latin1');

/** Decodes UTF-8 and keeps a byte order mark. Returns null for bytes that are not UTF-8. */
function strictText(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}

function decompress(body: Uint8Array): Uint8Array[] {
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

const endings: Undo<Uint8Array> = {
  newline_added: (body) => [edit(body, /\r?\n$/, '')],
  newline_stripped: (body) => ['\n', '\r\n'].map((end) => Buffer.concat([body, Buffer.from(end)])),
  lf_became_crlf: (body) => [edit(body, /\r\n?/g, '\n')],
  crlf_became_lf: (body) => [edit(body, /\r?\n/g, '\r\n')],
  bom_added: (body) => [edit(body, /^\xef\xbb\xbf/, '')],
};

const textChanges: Undo<string, Uint8Array> = {
  white_space_added: (text) => [Buffer.from(text.trim())],
  decoded_as_latin1: (text) => [Buffer.from(text, 'latin1')],
};

const encodings: Undo<Uint8Array> = {
  encoded_as_utf16: (body) => [Buffer.from(new TextDecoder('utf-16le').decode(body))],
  base64_body: (body) => [Buffer.from(latin1(body), 'base64')],
  headers_in_body: withoutHeaders,
};

/** Compressed data and latin1 are hardly ever valid UTF-8. */
const binary: Undo<Uint8Array> = {
  compressed: decompress,
  encoded_as_latin1: (body) => [Buffer.from(latin1(body))],
};

/** Yields the bodies that may have been signed, the likeliest first. */
export function* bodyCandidates(body: Uint8Array): Generator<Candidate<Uint8Array>> {
  const text = strictText(body);
  yield* candidatesOf(endings, body);
  if (text === null) {
    yield* candidatesOf(binary, body);
  } else {
    yield* candidatesOf(textChanges, text);
    for (const [id, json] of jsonCandidates(text)) yield [id, Buffer.from(json)];
  }
  yield* candidatesOf(encodings, body);
}
