const verifyRawBytes =
  'verify the bytes exactly as they were received, before anything reads, parses or prints them';

/** The explanation and the remedy for every cause that `--diagnose` finds. The ids are stable. */
export const causes = {
  newline_added: [
    'a line break was added at the end of the body',
    `${verifyRawBytes}; editors and echo add one (printf '%s' does not)`,
  ],
  newline_stripped: [
    'the line break at the end of the body was removed',
    `${verifyRawBytes}; $(…) in a shell and trim() remove it`,
  ],
  line_breaks_changed: [
    'the line breaks of the body were changed between LF and CRLF',
    `${verifyRawBytes}; git (core.autocrlf), dos2unix and text mode do this`,
  ],
  bom_added: [
    'a byte order mark was added at the start of the body',
    `${verifyRawBytes}; editors on Windows and PowerShell add one`,
  ],
  json_rewritten: [
    'the JSON was parsed and serialised again, so that its whitespace or its escapes differ',
    'verify the raw body (express.raw, request.text(), …) instead of serialising a parsed body again',
  ],
  compressed: [
    'the body is compressed here, but the sender signed it uncompressed',
    'decompress the body before you verify it, or capture the raw body in your framework',
  ],
  encoding_changed: [
    'the sender signed the body in UTF-8, and something changed its encoding to or from latin1 or UTF-16',
    `${verifyRawBytes}; PowerShell's > writes UTF-16`,
  ],
  base64_body: ['the body is still in base64', 'decode it first; in Lambda, check isBase64Encoded'],
  headers_in_body: [
    'the body begins with headers',
    'pass a whole request with --request-file, or only the body with --body-file',
  ],
  tenant_secret: [
    'a webhook secret signed the delivery, but the configured tenant secret takes precedence',
    'unset RUNGATE_TENANT_SECRET, or find out why the service does not use the tenant secret',
  ],
  secret_white_space: [
    'the configured secret has whitespace or a line break around it, unlike the secret in the service',
    'store the secret exactly as the service shows it',
  ],
  secret_quoted: [
    'the configured secret has quotes around it',
    'remove the quotes: env files of Docker and of CI systems keep them as part of the value',
  ],
  secret_list: ['the configured secret contains several secrets in one line', 'write one secret per line'],
  timestamp_rewritten: [
    'the timestamp is written differently from the signed one',
    'pass the timestamp on unchanged, as text: never convert it to a date',
  ],
} as const satisfies Record<string, readonly [sentence: string, remedy: string]>;

export type CauseId = keyof typeof causes;

/** A value that may have been signed, and the cause that turned it into the received value. */
export type Candidate<Value> = readonly [id: CauseId, value: Value];
