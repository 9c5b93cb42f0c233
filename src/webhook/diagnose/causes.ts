import * as change from './body.ts';
import { bytes } from './body.ts';
import { type Layout, stringStyles } from './json.ts';

/** What went wrong, and what to do about it. `id` is stable. */
export interface Cause {
  id: string;
  sentence: string;
  remedy: string;
}

/** What a cause changed, and how that is undone: every way to what may have been signed. */
type Undo =
  | { on: 'body'; undo(body: Uint8Array): readonly Uint8Array[]; cheap?: boolean; wraps?: boolean }
  | { on: 'layout'; layout: Layout }
  | { on: 'strings'; styles: readonly ((text: string) => string)[] }
  | { on: 'order' }
  | { on: 'key'; undo(key: string): readonly (string | Uint8Array)[] }
  | { on: 'webhook' }
  | { on: 'old' }
  | { on: 'fraction' }
  | { on: 'zone' }
  | { on: 'lost' }
  | { on: 'timestamp'; undo(text: string, ms: number | null): readonly string[] }
  | { on: 'message'; build(timestamp: Uint8Array, body: Uint8Array): readonly Uint8Array[] }
  | { on: 'signature'; decode(text: string): readonly Uint8Array[] }
  | { on: 'refused' };

export type Row = Cause & Undo;

const rawBody =
  'verify the bytes exactly as they were received, before anything reads, parses or prints them';
const rewritten =
  'take the raw body instead of a parsed one that was written again (express.raw, request.text(), …)';
const asGiven = 'store the secret exactly as the service shows it';
const verbatim = 'pass the timestamp on exactly as it came, as text: never through a date';

const json = (id: string, what: string, undo: Undo): Row => ({
  id,
  sentence: `the JSON was written anew: ${what}`,
  remedy: rewritten,
  ...undo,
});

const compact = { comma: ',', colon: ':', indent: null };
const isHex = (key: string) => key.length % 2 === 0 && /^[0-9A-Fa-f]{8,}$/.test(key);
const isBase64 = (key: string) => key.length >= 8 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(key);
const fromBase64 = (key: string): Uint8Array => Buffer.from(key, 'base64');

/**
 * The causes, the likeliest first: of several that explain the same bytes the first is named. Each says what
 * happened to what was signed on its way here, and undoes it.
 */
export const rows: readonly Row[] = [
  {
    id: 'newline_added',
    sentence: 'a line break was added at the end of the body',
    remedy: `${rawBody}; editors and echo add one (printf '%s' does not)`,
    on: 'body',
    undo: change.withoutNewline,
    cheap: true,
  },
  {
    id: 'newline_stripped',
    sentence: 'the line break at the end of the body was taken away',
    remedy: `${rawBody}; $(…) of a shell and trim() take it away`,
    on: 'body',
    undo: change.withNewline,
    cheap: true,
  },
  {
    id: 'lf_became_crlf',
    sentence: 'the line breaks of the body became CRLF',
    remedy: `${rawBody}; git (core.autocrlf) and text mode on Windows do this`,
    on: 'body',
    undo: change.toLf,
    cheap: true,
  },
  {
    id: 'crlf_became_lf',
    sentence: 'the CRLF line breaks of the body became LF',
    remedy: `${rawBody}; git, dos2unix and text mode do this`,
    on: 'body',
    undo: change.toCrlf,
    cheap: true,
  },
  {
    id: 'bom_added',
    sentence: 'a byte order mark was put in front of the body',
    remedy: `${rawBody}; editors on Windows and PowerShell put one there`,
    on: 'body',
    undo: change.withoutMark,
    cheap: true,
  },
  {
    id: 'bom_stripped',
    sentence: 'the byte order mark in front of the body was taken away',
    remedy: `${rawBody}; decoding to text takes it away`,
    on: 'body',
    undo: change.withMark,
    cheap: true,
  },
  {
    id: 'white_space_added',
    sentence: 'white space was added around the body',
    remedy: rawBody,
    on: 'body',
    undo: change.trimmed,
  },
  json('json_compact', 'signed was the compact form, without spaces between its parts', {
    on: 'layout',
    layout: compact,
  }),
  json('json_spaced', 'signed was the form of Python, with a space after each comma and colon', {
    on: 'layout',
    layout: { comma: ', ', colon: ': ', indent: null },
  }),
  json('json_indented_2', 'signed was a form indented by 2 spaces', {
    on: 'layout',
    layout: { comma: ',', colon: ': ', indent: '  ' },
  }),
  json('json_indented_4', 'signed was a form indented by 4 spaces', {
    on: 'layout',
    layout: { comma: ',', colon: ': ', indent: '    ' },
  }),
  json('json_indented_tab', 'signed was a form indented by tabs', {
    on: 'layout',
    layout: { comma: ',', colon: ': ', indent: '\t' },
  }),
  json('json_sorted', 'signed were its keys in alphabetical order, and here they are in another', {
    on: 'order',
  }),
  json(
    'json_unescaped',
    'signed were characters beyond ASCII as \\u escapes, and here they are as themselves',
    {
      on: 'strings',
      styles: [stringStyles.ascii, stringStyles.asciiUpper],
    },
  ),
  json('json_escaped', 'signed were characters beyond ASCII as themselves, and here they are \\u escapes', {
    on: 'strings',
    styles: [stringStyles.unicode],
  }),
  json('json_slashes', 'a slash is escaped (\\/) in one of the forms, as PHP does it, and not in the other', {
    on: 'strings',
    styles: [
      stringStyles.slashes,
      stringStyles.plainSlashes,
      (text) => stringStyles.slashes(stringStyles.ascii(text)),
      (text) => stringStyles.plainSlashes(stringStyles.unicode(text)),
    ],
  }),
  json(
    'json_html',
    'the characters < > & are escaped in one of the forms, as Go and .NET do it, and not in the other',
    {
      on: 'strings',
      styles: [stringStyles.html, stringStyles.plainHtml],
    },
  ),
  {
    id: 'compressed',
    sentence: 'the body is compressed here, and the signature is over what it holds',
    remedy: 'verify after Content-Encoding is undone, and capture what your framework calls the raw body',
    on: 'body',
    undo: change.unpacked,
    wraps: true,
  },
  {
    id: 'decoded_as_latin1',
    sentence: 'the body is UTF-8 that was read as latin1 and written as UTF-8 once more',
    remedy: rawBody,
    on: 'body',
    undo: change.unmangled,
    wraps: true,
  },
  {
    id: 'encoded_as_latin1',
    sentence: 'the body came in latin1, and UTF-8 was signed',
    remedy: rawBody,
    on: 'body',
    undo: change.fromLatin1Body,
    wraps: true,
  },
  {
    id: 'encoded_as_utf16',
    sentence: 'the body is in UTF-16, and UTF-8 was signed',
    remedy: `${rawBody}; PowerShell's > writes UTF-16`,
    on: 'body',
    undo: change.fromUtf16,
    wraps: true,
  },
  {
    id: 'base64_body',
    sentence: 'the body is still in base64',
    remedy: 'decode it first; Lambda says so with isBase64Encoded',
    on: 'body',
    undo: change.fromBase64,
    wraps: true,
  },
  {
    id: 'json_string',
    sentence: 'the body is a JSON string that holds the body',
    remedy: rawBody,
    on: 'body',
    undo: change.fromJsonString,
    wraps: true,
  },
  {
    id: 'headers_in_body',
    sentence: 'headers stand in front of the body',
    remedy: 'give a whole request with --request-file, or the body alone with --body-file',
    on: 'body',
    undo: change.withoutHead,
    wraps: true,
  },
  {
    id: 'tenant_secret',
    sentence: 'it is signed with the webhook secret, and a tenant secret is configured, which alone is tried',
    remedy: 'unset RUNGATE_TENANT_SECRET, or find out why the service does not use the tenant secret',
    on: 'webhook',
  },
  {
    id: 'old_secret',
    sentence:
      'it is signed with an older webhook secret, and a tenant secret is configured, which alone is tried',
    remedy: 'unset RUNGATE_TENANT_SECRET for deliveries from before it was set',
    on: 'old',
  },
  {
    id: 'secret_white_space',
    sentence:
      'there is white space or a line break around the configured secret that the service does not have',
    remedy: asGiven,
    on: 'key',
    undo: (key) => [key.trim()],
  },
  {
    id: 'secret_newline',
    sentence:
      "the service's own secret has a line break or a space at its end that the configured one does not have",
    remedy: 'set the secret of the service anew, without it (echo adds one)',
    on: 'key',
    undo: (key) => ['\n', '\r\n', ' '].map((end) => `${key}${end}`),
  },
  {
    id: 'secret_quoted',
    sentence: 'there are quotes around the configured secret',
    remedy: 'take them away: env files of Docker and CIs keep them',
    on: 'key',
    undo: (key) => [/^(["'`])(.*)\1$/s.exec(key.trim())?.[2] ?? key],
  },
  {
    id: 'secret_list',
    sentence: 'the configured secret is several in one line',
    remedy: 'write one in a line',
    on: 'key',
    undo: (key) => key.split(/\\n|[,;\s]+/).filter((part) => part !== ''),
  },
  {
    id: 'secret_prefix',
    sentence: 'the prefix of the configured secret is no part of the key',
    remedy: 'configure it without the prefix, or the decoded bytes',
    on: 'key',
    undo: (key) => {
      const bare = /^[A-Za-z]{2,10}_(.+)$/s.exec(key)?.[1];
      return bare === undefined ? [] : [bare, ...(isBase64(bare) ? [fromBase64(bare)] : [])];
    },
  },
  {
    id: 'secret_hex',
    sentence: 'the key is the bytes that the configured secret writes in hex',
    remedy:
      'the contract signs with the secret as it is shown: give the library the decoded bytes, or set the secret anew',
    on: 'key',
    undo: (key) => (isHex(key) ? [Buffer.from(key, 'hex')] : []),
  },
  {
    id: 'secret_base64',
    sentence: 'the key is the bytes that the configured secret writes in base64',
    remedy:
      'the contract signs with the secret as it is shown: give the library the decoded bytes, or set the secret anew',
    on: 'key',
    undo: (key) => (isBase64(key) ? [fromBase64(key)] : []),
  },
  {
    id: 'secret_decoded',
    sentence: 'the key is the text in hex or base64 that the configured secret is decoded from',
    remedy: asGiven,
    on: 'key',
    undo: (key) => {
      const raw = Buffer.from(key);
      const hex = raw.toString('hex');
      return [hex, hex.toUpperCase(), raw.toString('base64'), raw.toString('base64url')];
    },
  },
  {
    id: 'secret_case',
    sentence: 'the configured secret has other upper and lower case than the key',
    remedy: asGiven,
    on: 'key',
    undo: (key) => [key.toLowerCase(), key.toUpperCase()],
  },
  {
    id: 'secret_unset',
    sentence:
      'the sender signed with no secret: with an empty one, or with the word its language has for nothing',
    remedy: "set the sender's secret; until then anybody can sign",
    on: 'key',
    undo: () => ['', 'undefined', 'null', 'None', 'nil', 'false'],
  },
  {
    id: 'timestamp_fraction',
    sentence: 'the fraction of the timestamp has other digits than the one that was signed',
    remedy: verbatim,
    on: 'fraction',
  },
  {
    id: 'timestamp_zone',
    sentence: 'the zone of the timestamp is spelled otherwise than the one that was signed',
    remedy: verbatim,
    on: 'zone',
  },
  {
    id: 'timestamp_separator',
    sentence: 'signed was the timestamp with another letter between date and time, or with a space there',
    remedy: verbatim,
    on: 'timestamp',
    undo: (text) => ['T', ' ', 't'].map((letter) => text.replace(/^(\d{4}-\d{2}-\d{2})[Tt ]/, `$1${letter}`)),
  },
  {
    id: 'timestamp_unix',
    sentence: 'signed was the time as a Unix number',
    remedy: verbatim,
    on: 'timestamp',
    undo: (_text, ms) =>
      ms === null ? [] : [String(Math.floor(ms / 1000)), String(ms), (ms / 1000).toFixed(3)],
  },
  {
    id: 'timestamp_http_date',
    sentence: 'signed was the time as an HTTP date',
    remedy: verbatim,
    on: 'timestamp',
    undo: (_text, ms) => (ms === null ? [] : [new Date(ms).toUTCString()]),
  },
  {
    id: 'timestamp_white_space',
    sentence: 'white space or quotes around the timestamp were signed with it, or were added to it',
    remedy: verbatim,
    on: 'timestamp',
    undo: (text) => {
      const bare = text.replace(/^[\s"']+|(?<![\s"'])[\s"']+$/g, '');
      return [bare, `"${bare}"`, `${bare}\n`, `${bare} `, ` ${bare}`];
    },
  },
  {
    id: 'timestamp_milliseconds',
    sentence: 'the milliseconds of the timestamp were lost',
    remedy: verbatim,
    on: 'lost',
  },
  {
    id: 'boundary_missing',
    sentence: 'signed was timestamp and body without the dot between them',
    remedy: 'the sender must sign <timestamp>.<body>',
    on: 'message',
    build: (timestamp, body) => [timestamp, body],
  },
  {
    id: 'boundary_newline',
    sentence: 'between timestamp and body something else than one dot was signed',
    remedy: 'the sender must sign <timestamp>.<body>',
    on: 'message',
    build: (timestamp, body) => [timestamp, bytes('\n'), body],
  },
  {
    id: 'body_only',
    sentence: 'signed was the body alone, without the timestamp',
    remedy:
      'the sender must sign <timestamp>.<body>: without the timestamp everything can be sent again for ever',
    on: 'message',
    build: (_timestamp, body) => [body],
  },
  {
    id: 'body_first',
    sentence: 'signed was the body before the timestamp',
    remedy: 'the sender must sign <timestamp>.<body>',
    on: 'message',
    build: (timestamp, body) => [body, bytes('.'), timestamp],
  },
  {
    id: 'body_missing',
    sentence: 'signed was the timestamp with an empty body',
    remedy: 'the sender must sign the body that it sends',
    on: 'message',
    build: (timestamp) => [timestamp, bytes('.')],
  },
  {
    id: 'signature_base64',
    sentence: 'the signature is in base64 instead of hex',
    remedy: 'the sender must send sha256= and 64 hex digits',
    on: 'signature',
    decode: (text) => [Buffer.from(text.replace(/^sha256=/i, ''), 'base64')],
  },
  {
    id: 'signature_prefix',
    sentence: 'the signature is not introduced by sha256=',
    remedy: 'give the whole value of the header; the sender must send sha256= and 64 hex digits',
    on: 'signature',
    decode: (text) => [Buffer.from(/(?:^|[=: ])([0-9A-Fa-f]{64})$/.exec(text.trim())?.[1] ?? '', 'hex')],
  },
  {
    id: 'timestamp_refused',
    sentence: 'the signature is right, but the timestamp is no RFC 3339 date-time with a zone',
    remedy:
      'do not accept it: its end and the beginning of the body can change places under one signature; the sender must send a whole timestamp',
    on: 'refused',
  },
];
