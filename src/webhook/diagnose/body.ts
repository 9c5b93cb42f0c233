import { brotliDecompressSync, inflateRawSync, unzipSync } from 'node:zlib';
import { parsedJson } from '../../json/text.ts';
import { isTooLarge, type Layout, layOut, tokensOf } from '../../json/tokens.ts';
import type { Candidate } from './causes.ts';

/** The limit for decompression, since a small body may be a zip bomb. */
const maxUnpackedBytes = 64 * 1024 * 1024;

function decompressed(body: Uint8Array): Uint8Array[] {
  return [unzipSync, brotliDecompressSync, inflateRawSync].flatMap((unpack) => {
    try {
      return [unpack(body, { maxOutputLength: maxUnpackedBytes })];
    } catch {
      return [];
    }
  });
}

/** Returns what follows the headers if the body begins with headers. */
function withoutHeaders(content: string): string[] {
  if (!/^(?:[A-Z]+ \S+ HTTP\/|HTTP\/|[A-Za-z-]+: )/.test(content)) return [];
  return ['\r\n\r\n', '\n\n'].flatMap((blank) => {
    const at = content.indexOf(blank);
    return at < 0 ? [] : [content.slice(at + blank.length)];
  });
}

const layouts: readonly Layout[] = [
  { comma: ',', colon: ':', indent: '' },
  // Python's default.
  { comma: ', ', colon: ': ', indent: '' },
  { comma: ',', colon: ': ', indent: '  ' },
];

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const toAscii = (json: string) => json.replace(/[\u007f-\uffff]/g, escaped);
const toUnicode = (json: string) =>
  json.replace(/\\(?:u([0-9A-Fa-f]{4})|.)/gs, (match, hex = '0') => {
    const char = String.fromCharCode(Number.parseInt(hex, 16));
    return char >= '\u007f' ? char : match;
  });

/** The serialisers differ in the characters that they escape. */
const spellings: readonly ((json: string) => string)[] = [
  (json) => json,
  toAscii,
  toUnicode,
  // PHP escapes slashes too; Go and .NET escape the syntax of HTML.
  (json) => toAscii(json).replaceAll('/', '\\/'),
  (json) => toUnicode(json).replaceAll('\\/', '/'),
  (json) => json.replace(/[<>&]/g, escaped),
  (json) => json.replace(/\\u00(3c|3e|26)/gi, (_match, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
];

const isJson = (text: string): boolean =>
  /^\s*[[{]/.test(text) && !isTooLarge(text) && parsedJson(text) !== undefined;

/** Yields JSON that a serialiser may have turned into this text. The digits of its numbers stay. */
function* jsonCandidates(text: string): Generator<string> {
  if (!isJson(text)) return;
  const tokens = tokensOf(text);
  const end = text.slice(text.trimEnd().length);
  for (const layout of [null, ...layouts]) {
    const json = layout === null ? text.trimEnd() : layOut(tokens, layout);
    for (const spell of spellings) {
      for (const candidate of new Set([spell(json), spell(json) + end])) yield candidate;
    }
  }
}

/** Decodes UTF-8 and keeps a byte order mark. Returns null for bytes that are not UTF-8. */
function strictText(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}

/** Yields the bodies that may have been signed, the likeliest first. */
export function* bodyCandidates(body: Uint8Array): Generator<Candidate<Uint8Array>> {
  // One character for each byte, so that patterns match bytes.
  const latin1 = Buffer.from(body).toString('latin1');
  const raw = (content: string) => Buffer.from(content, 'latin1');
  yield ['newline_added', raw(latin1.replace(/\r?\n$/, ''))];
  for (const end of ['\n', '\r\n']) yield ['newline_stripped', raw(latin1 + end)];
  yield ['line_breaks_changed', raw(latin1.replace(/\r\n?/g, '\n'))];
  yield ['line_breaks_changed', raw(latin1.replace(/\r?\n/g, '\r\n'))];
  yield ['bom_added', raw(latin1.replace(/^\xef\xbb\xbf/, ''))];
  const text = strictText(body);
  if (text === null) {
    for (const unpacked of decompressed(body)) yield ['compressed', unpacked];
    yield ['encoding_changed', Buffer.from(latin1)];
  } else {
    for (const json of jsonCandidates(text)) yield ['json_rewritten', Buffer.from(json)];
    yield ['encoding_changed', raw(text)];
  }
  yield ['encoding_changed', Buffer.from(new TextDecoder('utf-16le').decode(body))];
  yield ['base64_body', Buffer.from(latin1, 'base64')];
  for (const content of withoutHeaders(latin1)) yield ['headers_in_body', raw(content)];
}
