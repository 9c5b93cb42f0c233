import { parseTimestamp } from '../../date-time.ts';
import { openHmac } from '../hmac.ts';
import type { Secret } from '../options.ts';
import { bodyUndo, endings, wrappings } from './body.ts';
import { type CauseId, causes, type Step, type Undo, undone } from './causes.ts';
import { jsonSteps } from './json.ts';

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
export function* secretSteps(
  secrets: readonly string[],
  tenantSecret: string | undefined,
): Generator<Step<Secret>> {
  if (tenantSecret !== undefined) {
    for (const [index, value] of secrets.entries()) {
      yield { value, by: [index === 0 ? 'tenant_secret' : 'old_secret'] };
    }
    yield* undone(secretUndo, tenantSecret);
  }
  for (const secret of secrets) yield* undone(secretUndo, secret);
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

/** The largest body to diagnose: it is held in memory and hashed hundreds of times. */
export const maxDiagnosedBytes = 10 * 1024 * 1024;
/** The largest body to check for two mistakes at once. */
const maxPairedBytes = 256 * 1024;
/** The limit for all hashed bytes together, since a person waits for the result. */
const maxHashedBytes = 2 * 1024 ** 3;

type Build = (timestamp: string, body: Uint8Array) => readonly (string | Uint8Array)[];

const specified: Build = (timestamp, body) => [timestamp, '.', body];

const messages: readonly Step<Build>[] = [
  { by: ['boundary_missing'], value: (timestamp, body) => [timestamp, body] },
  { by: ['body_only'], value: (_timestamp, body) => [body] },
];

/** Yields the spellings of an instant in UTC: what remains if a program parses a timestamp and formats it again. */
function* timestampSteps(text: string): Generator<Step<string>> {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]00:00|)$/.exec(text);
  if (match === null) return;
  const [, seconds = '', fraction = '', received = ''] = match;
  for (const digits of new Set([fraction.length, 0, 3, 6, 7, 9])) {
    const time = digits === 0 ? seconds : `${seconds}.${fraction.padEnd(digits, '0').slice(0, digits)}`;
    const changes = digits === fraction.length ? [] : (['timestamp_fraction'] as const);
    for (const zone of new Set([received, 'Z', '+00:00', ''])) {
      const by = zone === received ? changes : ([...changes, 'timestamp_zone'] as const);
      if (by.length > 0) yield { value: `${time}${zone}`, by };
    }
  }
}

const signatureUndo: Undo<string, Uint8Array> = {
  signature_base64: (text) => [Buffer.from(text.replace(/^sha256=/i, ''), 'base64')],
  signature_prefix: (text) => [
    Buffer.from(/(?:^|[=: ])([0-9A-Fa-f]{64})$/.exec(text.trim())?.[1] ?? '', 'hex'),
  ],
};

function sentMacs(signature: string): Step<Uint8Array>[] {
  const hex = /^sha256=([0-9A-Fa-f]{64})$/.exec(signature)?.[1];
  if (hex !== undefined) return [{ value: Buffer.from(hex, 'hex'), by: [] }];
  return [...undone(signatureUndo, signature)].filter(({ value }) => value.length === 32);
}

/** One hypothesis: the received values, except for the given steps. */
interface Hypothesis {
  body?: Step<Uint8Array>;
  key?: Step<Secret>;
  timestamp?: Step<string>;
  message?: Step<Build>;
}

function* combinations(first: readonly Hypothesis[], second: readonly Hypothesis[]): Generator<Hypothesis> {
  for (const one of first) for (const other of second) yield { ...one, ...other };
}

function* bodySteps(body: Uint8Array, maxCauses?: number): Generator<Step<Uint8Array>> {
  yield* undone(bodyUndo, body);
  yield* jsonSteps(body, maxCauses);
}

/** Yields pairs of mistakes in the body, one of them at its ends or line breaks or inside an encoding. */
function* bodyPairs(bodies: readonly Step<Uint8Array>[]): Generator<Step<Uint8Array>> {
  for (const { value, by } of bodies) {
    // An encoding hides other mistakes, so undo it before looking for them.
    const isEncoding = by.some((id) => id in wrappings);
    for (const next of isEncoding ? bodySteps(value) : undone(endings, value)) {
      if (!by.some((id) => next.by.includes(id))) yield { ...next, by: [...by, ...next.by] };
    }
  }
}

/** Yields the hypotheses, the likeliest first: one mistake, then two. */
function* hypotheses({ body, timestamp, secrets, tenantSecret }: DiagnoseInput): Generator<Hypothesis> {
  const keys = Array.from(secretSteps(secrets, tenantSecret), (key) => ({ key }));
  const timestamps = Array.from(timestampSteps(timestamp), (step) => ({ timestamp: step }));
  const builds = messages.map((message) => ({ message }));
  const others = [...keys, ...timestamps, ...builds];
  const isSmall = body.length <= maxPairedBytes;
  // The forms of a large body are made one at a time rather than all kept in memory.
  const bodies = isSmall ? [...bodySteps(body)].toSorted((a, b) => a.by.length - b.by.length) : [];
  yield {};
  for (const step of isSmall ? bodies : bodySteps(body, 1)) yield { body: step };
  yield* others;
  if (!isSmall) return;
  for (const step of bodyPairs(bodies)) yield { body: step };
  const changed = bodies.map((step) => ({ body: step }));
  yield* combinations(changed, others);
  yield* combinations(keys, [...timestamps, ...builds]);
  yield* combinations(timestamps, builds);
}

function search(input: DiagnoseInput): readonly CauseId[] | null {
  const { body, timestamp, secrets, tenantSecret } = input;
  const sent = sentMacs(input.signature);
  if (sent.length === 0) return null;
  const configured = tenantSecret === undefined ? secrets : [tenantSecret];
  let hashed = 0;
  for (const hypothesis of hypotheses(input)) {
    const build = hypothesis.message?.value ?? specified;
    const message = build(hypothesis.timestamp?.value ?? timestamp, hypothesis.body?.value ?? body);
    for (const key of hypothesis.key === undefined ? configured : [hypothesis.key.value]) {
      hashed += message.reduce((sum, part) => sum + part.length, 0);
      if (hashed > maxHashedBytes) return null;
      const mac = message.reduce((hmac, part) => hmac.update(part), openHmac(key)).digest();
      const signature = sent.find(({ value }) => mac.equals(value));
      if (signature === undefined) continue;
      const steps = [hypothesis.body, hypothesis.key, hypothesis.timestamp, hypothesis.message, signature];
      return steps.flatMap((step) => step?.by ?? []);
    }
  }
  return null;
}

/**
 * Returns the mistakes that make the signature match once they are undone, or an empty list. The match proves the result;
 * if several causes lead to the same bytes, returns the likeliest.
 */
export function diagnose(input: DiagnoseInput): FoundCause[] {
  const found = input.body.length > maxDiagnosedBytes ? null : search(input);
  if (found === null) return [];
  // The received values match the signature, but the timestamp is not acceptable.
  const isRefused = found.length === 0 && parseTimestamp(input.timestamp) === null;
  const ids: readonly CauseId[] = isRefused ? ['timestamp_refused'] : found;
  return ids.map((id) => ({ id, sentence: causes[id][0], remedy: causes[id][1] }));
}
