import type { Row } from './row.ts';

const asGiven = 'store the secret exactly as the service shows it';

const isHex = (key: string) => key.length % 2 === 0 && /^[0-9A-Fa-f]{8,}$/.test(key);
const isBase64 = (key: string) => key.length >= 8 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(key);
const fromBase64 = (key: string): Uint8Array => Buffer.from(key, 'base64');

/** The key is not the one that signed. */
export const secretCauses: readonly Row[] = [
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
];
