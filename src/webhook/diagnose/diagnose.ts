import { parseTimestamp } from '../../date-time.ts';
import { openHmac } from '../hmac.ts';
import type { Secret } from '../options.ts';
import { bodyCandidates } from './body.ts';
import { type Candidate, type CauseId, candidatesOf, causes, type Undo } from './causes.ts';

const isHex = (key: string) => key.length % 2 === 0 && /^[0-9A-Fa-f]{8,}$/.test(key);
const isBase64 = (key: string) => key.length >= 8 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(key);

const secretUndo: Undo<string, Secret> = {
  secret_white_space: (key) => [key.trim()],
  secret_newline: (key) => ['\n', '\r\n', ' '].map((end) => `${key}${end}`),
  secret_quoted: (key) => [/^(["'`])(.*)\1$/s.exec(key.trim())?.[2] ?? key],
  secret_list: (key) => key.split(/\\n|[,;\s]+/).filter((part) => part !== ''),
  secret_prefix: (key) => {
    const bare = /^[A-Za-z]{2,10}_(.+)$/s.exec(key)?.[1];
    if (bare === undefined) return [];
    return isBase64(bare) ? [bare, Buffer.from(bare, 'base64')] : [bare];
  },
  secret_hex: (key) => (isHex(key) ? [Buffer.from(key, 'hex')] : []),
  secret_base64: (key) => (isBase64(key) ? [Buffer.from(key, 'base64')] : []),
};

/** Yields keys that verification did not use: the webhook's secrets if there is a tenant secret, and their variants. */
function* keyCandidates({ secrets, tenantSecret }: DiagnoseInput): Generator<Candidate<Secret>> {
  if (tenantSecret !== undefined) {
    for (const [index, secret] of secrets.entries()) {
      yield [index === 0 ? 'tenant_secret' : 'old_secret', secret];
    }
    yield* candidatesOf(secretUndo, tenantSecret);
  }
  for (const secret of secrets) yield* candidatesOf(secretUndo, secret);
}

/** Yields the spellings of an instant in UTC: what remains if a program parses a timestamp and formats it again. */
function* timestampCandidates(text: string): Generator<Candidate<string>> {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]00:00|)$/.exec(text);
  if (match === null) return;
  const [, seconds = '', fraction = ''] = match;
  for (const digits of new Set([fraction.length, 0, 3, 6, 7, 9])) {
    const time = digits === 0 ? seconds : `${seconds}.${fraction.padEnd(digits, '0').slice(0, digits)}`;
    for (const zone of ['Z', '+00:00', '']) {
      yield [digits === fraction.length ? 'timestamp_zone' : 'timestamp_fraction', `${time}${zone}`];
    }
  }
}

/** Returns the MAC that was sent, and what is wrong with its spelling. */
function sentMac(signature: string): readonly [CauseId | null, Uint8Array] {
  const [, prefix = '', hex] = /^(.*?[=: ])?([0-9A-Fa-f]{64})$/s.exec(signature.trim()) ?? [];
  if (hex !== undefined) return [prefix === 'sha256=' ? null : 'signature_prefix', Buffer.from(hex, 'hex')];
  return ['signature_base64', Buffer.from(signature.replace(/^sha256=/i, ''), 'base64')];
}

/** Why a signature does not match, and what to do about it. `id` is stable. */
export interface FoundCause {
  id: CauseId;
  sentence: string;
  remedy: string;
}

export interface DiagnoseInput {
  body: Uint8Array;
  /** The received values of the two headers, well formed or not. */
  timestamp: string;
  signature: string;
  /** The webhook's secrets. */
  secrets: readonly string[];
  tenantSecret?: string | undefined;
}

/** The largest body to diagnose: it is held in memory and hashed about a hundred times. */
export const maxDiagnosedBytes = 10 * 1024 * 1024;

type Message = readonly (string | Uint8Array)[];

/** Yields what may have been signed with the configured secrets, the likeliest first. */
function* messageCandidates({ body, timestamp }: DiagnoseInput): Generator<Candidate<Message>> {
  for (const [id, signed] of bodyCandidates(body)) yield [id, [timestamp, '.', signed]];
  for (const [id, signed] of timestampCandidates(timestamp)) yield [id, [signed, '.', body]];
  yield ['boundary_missing', [timestamp, body]];
  yield ['body_only', [body]];
}

function search(input: DiagnoseInput): CauseId | null {
  const { body, timestamp, secrets, tenantSecret } = input;
  const configured = tenantSecret === undefined ? secrets : [tenantSecret];
  const [misspelled, sent] = sentMac(input.signature);
  const isSigned = (message: Message, keys: readonly Secret[]) =>
    keys.some((key) =>
      message
        .reduce((hmac, part) => hmac.update(part), openHmac(key))
        .digest()
        .equals(sent),
    );
  const received = [timestamp, '.', body];
  if (isSigned(received, configured)) {
    return misspelled ?? (parseTimestamp(timestamp) === null ? 'timestamp_refused' : null);
  }
  if (misspelled !== null) return null;
  for (const [id, key] of keyCandidates(input)) if (isSigned(received, [key])) return id;
  for (const [id, message] of messageCandidates(input)) if (isSigned(message, configured)) return id;
  return null;
}

/**
 * Returns the mistake that makes the signature match once it is undone, or an empty list. The match proves the result; if
 * several causes lead to the same bytes, returns the likeliest.
 */
export function diagnose(input: DiagnoseInput): FoundCause[] {
  const id = input.body.length > maxDiagnosedBytes ? null : search(input);
  if (id === null) return [];
  const [sentence, remedy] = causes[id];
  return [{ id, sentence, remedy }];
}
