import * as change from '../body.ts';
import { stringStyles } from '../json.ts';
import type { Row, Undo } from './row.ts';

const rawBody =
  'verify the bytes exactly as they were received, before anything reads, parses or prints them';
const rewritten =
  'take the raw body instead of a parsed one that was written again (express.raw, request.text(), …)';

const json = (id: string, what: string, undo: Undo): Row => ({
  id,
  sentence: `the JSON was written anew: ${what}`,
  remedy: rewritten,
  ...undo,
});

const compact = { comma: ',', colon: ':', indent: null };

/** The body changed on its way. */
export const bodyCauses: readonly Row[] = [
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
];
