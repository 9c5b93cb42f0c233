const rawBody =
  'verify the bytes exactly as they were received, before anything reads, parses or prints them';
const decoded =
  'the contract signs with the secret as it is shown: give the library the decoded bytes, or set the secret anew';
const asShown = 'store the secret exactly as the service shows it';
const wholeMessage = 'the sender must sign <timestamp>.<body>';

type Text = readonly [sentence: string, remedy: string];

const rewritten = (what: string): Text => [
  `the JSON was written anew: ${what}`,
  'take the raw body instead of a parsed one that was written again (express.raw, request.text(), …)',
];
const respelled = (what: string): Text => [
  what,
  'pass the timestamp on exactly as it came, as text: never through a date',
];

/** What went wrong, and what to do about it, for every cause that `--diagnose` names. The ids are stable. */
export const causes = {
  newline_added: [
    'a line break was added at the end of the body',
    `${rawBody}; editors and echo add one (printf '%s' does not)`,
  ],
  newline_stripped: [
    'the line break at the end of the body was taken away',
    `${rawBody}; $(…) of a shell and trim() take it away`,
  ],
  lf_became_crlf: [
    'the line breaks of the body became CRLF',
    `${rawBody}; git (core.autocrlf) and text mode on Windows do this`,
  ],
  crlf_became_lf: [
    'the CRLF line breaks of the body became LF',
    `${rawBody}; git, dos2unix and text mode do this`,
  ],
  bom_added: [
    'a byte order mark was put in front of the body',
    `${rawBody}; editors on Windows and PowerShell put one there`,
  ],
  bom_stripped: [
    'the byte order mark in front of the body was taken away',
    `${rawBody}; decoding to text takes it away`,
  ],
  white_space_added: ['white space was added around the body', rawBody],

  json_compact: rewritten('signed was the compact form, without spaces between its parts'),
  json_spaced: rewritten('signed was the form of Python, with a space after each comma and colon'),
  json_indented_2: rewritten('signed was a form indented by 2 spaces'),
  json_indented_4: rewritten('signed was a form indented by 4 spaces'),
  json_indented_tab: rewritten('signed was a form indented by tabs'),
  json_sorted: rewritten('signed were its keys in alphabetical order, and here they are in another'),
  json_unescaped: rewritten(
    'signed were characters beyond ASCII as \\u escapes, and here they are as themselves',
  ),
  json_escaped: rewritten('signed were characters beyond ASCII as themselves, and here they are \\u escapes'),
  json_slashes: rewritten(
    'a slash is escaped (\\/) in one of the forms, as PHP does it, and not in the other',
  ),
  json_html: rewritten(
    'the characters < > & are escaped in one of the forms, as Go and .NET do it, and not in the other',
  ),

  compressed: [
    'the body is compressed here, and the signature is over what it holds',
    'verify after Content-Encoding is undone, and capture what your framework calls the raw body',
  ],
  decoded_as_latin1: ['the body is UTF-8 that was read as latin1 and written as UTF-8 once more', rawBody],
  encoded_as_latin1: ['the body came in latin1, and UTF-8 was signed', rawBody],
  encoded_as_utf16: [
    'the body is in UTF-16, and UTF-8 was signed',
    `${rawBody}; PowerShell's > writes UTF-16`,
  ],
  base64_body: ['the body is still in base64', 'decode it first; Lambda says so with isBase64Encoded'],
  json_string: ['the body is a JSON string that holds the body', rawBody],
  headers_in_body: [
    'headers stand in front of the body',
    'give a whole request with --request-file, or the body alone with --body-file',
  ],

  tenant_secret: [
    'it is signed with the webhook secret, and a tenant secret is configured, which alone is tried',
    'unset RUNGATE_TENANT_SECRET, or find out why the service does not use the tenant secret',
  ],
  old_secret: [
    'it is signed with an older webhook secret, and a tenant secret is configured, which alone is tried',
    'unset RUNGATE_TENANT_SECRET for deliveries from before it was set',
  ],
  secret_white_space: [
    'there is white space or a line break around the configured secret that the service does not have',
    asShown,
  ],
  secret_newline: [
    "the service's own secret has a line break or a space at its end that the configured one does not have",
    'set the secret of the service anew, without it (echo adds one)',
  ],
  secret_quoted: [
    'there are quotes around the configured secret',
    'take them away: env files of Docker and CIs keep them',
  ],
  secret_list: ['the configured secret is several in one line', 'write one in a line'],
  secret_prefix: [
    'the prefix of the configured secret is no part of the key',
    'configure it without the prefix, or the decoded bytes',
  ],
  secret_hex: ['the key is the bytes that the configured secret writes in hex', decoded],
  secret_base64: ['the key is the bytes that the configured secret writes in base64', decoded],
  secret_decoded: [
    'the key is the text in hex or base64 that the configured secret is decoded from',
    asShown,
  ],
  secret_case: ['the configured secret has other upper and lower case than the key', asShown],
  secret_unset: [
    'the sender signed with no secret: with an empty one, or with the word its language has for nothing',
    "set the sender's secret; until then anybody can sign",
  ],

  timestamp_fraction: respelled(
    'the fraction of the timestamp has other digits than the one that was signed',
  ),
  timestamp_zone: respelled('the zone of the timestamp is spelled otherwise than the one that was signed'),
  timestamp_separator: respelled(
    'signed was the timestamp with another letter between date and time, or with a space there',
  ),
  timestamp_unix: respelled('signed was the time as a Unix number'),
  timestamp_http_date: respelled('signed was the time as an HTTP date'),
  timestamp_white_space: respelled(
    'white space or quotes around the timestamp were signed with it, or were added to it',
  ),
  timestamp_milliseconds: respelled('the milliseconds of the timestamp were lost'),
  timestamp_refused: [
    'the signature is right, but the timestamp is no RFC 3339 date-time with a zone',
    'do not accept it: its end and the beginning of the body can change places under one signature; the sender must send a whole timestamp',
  ],

  boundary_missing: ['signed was timestamp and body without the dot between them', wholeMessage],
  boundary_newline: ['between timestamp and body something else than one dot was signed', wholeMessage],
  body_only: [
    'signed was the body alone, without the timestamp',
    `${wholeMessage}: without the timestamp everything can be sent again for ever`,
  ],
  body_first: ['signed was the body before the timestamp', wholeMessage],
  body_missing: [
    'signed was the timestamp with an empty body',
    'the sender must sign the body that it sends',
  ],
  signature_base64: [
    'the signature is in base64 instead of hex',
    'the sender must send sha256= and 64 hex digits',
  ],
  signature_prefix: [
    'the signature is not introduced by sha256=',
    'give the whole value of the header; the sender must send sha256= and 64 hex digits',
  ],
} as const satisfies Record<string, Text>;

export type CauseId = keyof typeof causes;

/** A value that may have been signed, and the causes that made of it what came. */
export interface Step<Value> {
  value: Value;
  by: readonly CauseId[];
}

/** How causes are undone, the likeliest first: from what came to every value that may have been signed. */
export type Undo<Value, Before = Value> = {
  readonly [Id in CauseId]?: (value: Value) => readonly Before[];
};

function isSame(a: unknown, b: unknown): boolean {
  return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b;
}

/** Undoes each cause alone. */
export function* undone<Value, Before>(undo: Undo<Value, Before>, value: Value): Generator<Step<Before>> {
  for (const id of Object.keys(undo) as CauseId[]) {
    for (const before of undo[id]?.(value) ?? []) {
      if (!isSame(before, value)) yield { value: before, by: [id] };
    }
  }
}
