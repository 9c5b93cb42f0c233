const verifyRawBytes =
  'verify the bytes exactly as they were received, before anything reads, parses or prints them';
const useTextOrBytes =
  'the service signs with the secret as text: pass the decoded bytes to the library, or set a new secret in the service';
const storeAsShown = 'store the secret exactly as the service shows it';
const signWholeMessage = 'the sender must sign <timestamp>.<body>';

type Text = readonly [sentence: string, remedy: string];

const jsonRewritten = (what: string): Text => [
  `the JSON was serialised again: ${what}`,
  'verify the raw body (express.raw, request.text(), …) instead of serialising a parsed body again',
];
const timestampRewritten = (what: string): Text => [
  what,
  'pass the timestamp on unchanged, as text: never convert it to a date',
];

/** The explanation and the remedy for every cause that `--diagnose` finds. The ids are stable. */
export const causes = {
  newline_added: [
    'a line break was added at the end of the body',
    `${verifyRawBytes}; editors and echo add one (printf '%s' does not)`,
  ],
  newline_stripped: [
    'the line break at the end of the body was removed',
    `${verifyRawBytes}; $(…) of a shell and trim() remove it`,
  ],
  lf_became_crlf: [
    'the LF line breaks of the body became CRLF',
    `${verifyRawBytes}; git (core.autocrlf) and text mode on Windows do this`,
  ],
  crlf_became_lf: [
    'the CRLF line breaks of the body became LF',
    `${verifyRawBytes}; git, dos2unix and text mode do this`,
  ],
  bom_added: [
    'a byte order mark was added at the start of the body',
    `${verifyRawBytes}; editors on Windows and PowerShell add one`,
  ],
  white_space_added: ['whitespace was added around the body', verifyRawBytes],

  json_compact: jsonRewritten('the sender signed the compact form, without whitespace'),
  json_spaced: jsonRewritten(
    "the sender signed Python's default form, with a space after each comma and colon",
  ),
  json_indented_2: jsonRewritten('the sender signed a form indented by 2 spaces'),
  json_unescaped: jsonRewritten(
    'the sender signed non-ASCII characters as \\u escapes, and here they are not escaped',
  ),
  json_escaped: jsonRewritten(
    'the sender signed non-ASCII characters unescaped, and here they are \\u escapes',
  ),
  json_slashes: jsonRewritten('slashes are escaped (\\/) in only one of the two forms; PHP escapes them'),
  json_html: jsonRewritten(
    'the characters < > & are escaped in only one of the two forms; Go and .NET escape them',
  ),

  compressed: [
    'the body is compressed here, but the sender signed it uncompressed',
    'decompress the body before you verify it, or capture the raw body in your framework',
  ],
  decoded_as_latin1: [
    'the body is UTF-8 that was decoded as latin1 and encoded as UTF-8 again',
    verifyRawBytes,
  ],
  encoded_as_latin1: ['the body is in latin1, but the sender signed it in UTF-8', verifyRawBytes],
  encoded_as_utf16: [
    'the body is in UTF-16, but the sender signed it in UTF-8',
    `${verifyRawBytes}; PowerShell's > writes UTF-16`,
  ],
  base64_body: ['the body is still in base64', 'decode it first; in Lambda, check isBase64Encoded'],
  headers_in_body: [
    'the body begins with headers',
    'pass a whole request with --request-file, or only the body with --body-file',
  ],

  tenant_secret: [
    'the webhook secret signed the delivery, but the configured tenant secret takes precedence',
    'unset RUNGATE_TENANT_SECRET, or find out why the service does not use the tenant secret',
  ],
  old_secret: [
    'an older webhook secret signed the delivery, but the configured tenant secret takes precedence',
    'unset RUNGATE_TENANT_SECRET for deliveries that are older than it',
  ],
  secret_white_space: [
    'the configured secret has whitespace or a line break around it that the secret of the service does not have',
    storeAsShown,
  ],
  secret_newline: [
    'the secret of the service ends in a line break or a space that the configured secret does not have',
    'set the secret of the service again without it (echo adds a line break)',
  ],
  secret_quoted: [
    'the configured secret has quotes around it',
    'remove the quotes: env files of Docker and of CI systems keep them as part of the value',
  ],
  secret_list: ['the configured secret contains several secrets in one line', 'write one secret per line'],
  secret_prefix: [
    'the prefix of the configured secret is not part of the key',
    'remove the prefix, or pass the decoded bytes to the library',
  ],
  secret_hex: ['the sender decoded the secret from hex, and signed with the bytes', useTextOrBytes],
  secret_base64: ['the sender decoded the secret from base64, and signed with the bytes', useTextOrBytes],

  timestamp_fraction: timestampRewritten('the fraction of the timestamp differs from the signed one'),
  timestamp_zone: timestampRewritten('the zone of the timestamp is written differently from the signed one'),
  timestamp_refused: [
    'the signature matches, but the timestamp is not an RFC 3339 date-time with a zone',
    'do not accept it: an attacker could move the boundary between timestamp and body without changing the signature; the sender must send a complete timestamp',
  ],

  boundary_missing: ['the sender signed timestamp and body without the dot between them', signWholeMessage],
  body_only: [
    'the sender signed only the body, without the timestamp',
    `${signWholeMessage}: without the timestamp, a delivery can be replayed for ever`,
  ],
  signature_base64: [
    'the signature is in base64 instead of hex',
    'the sender must send sha256= and 64 hex digits',
  ],
  signature_prefix: [
    'the signature does not begin with sha256=',
    'pass the whole value of the header; the sender must send sha256= and 64 hex digits',
  ],
} as const satisfies Record<string, Text>;

export type CauseId = keyof typeof causes;

/** A value that may have been signed, and the cause that turned it into the received value. */
export type Candidate<Value> = readonly [id: CauseId, value: Value];

/** For each cause, the likeliest first, a function from the received value to every value that may have been signed. */
export type Undo<Value, Before = Value> = {
  readonly [Id in CauseId]?: (value: Value) => readonly Before[];
};

/** Undoes each cause. */
export function* candidatesOf<Value, Before>(
  undo: Undo<Value, Before>,
  value: Value,
): Generator<Candidate<Before>> {
  for (const id of Object.keys(undo) as CauseId[]) {
    for (const before of undo[id]?.(value) ?? []) yield [id, before];
  }
}
