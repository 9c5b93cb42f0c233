import { openHmac } from '../hmac.ts';
import { parseTimestamp } from '../timestamp.ts';
import { bodyUndo, endings, wrappings } from './body.ts';
import { type CauseId, causes, type Step, type Undo, undone } from './causes.ts';
import { jsonSteps } from './json.ts';
import { type Key, keySteps } from './secret.ts';
import { millisecondSteps, timestampSteps } from './timestamp.ts';

/** What went wrong, and what to do about it. `id` is stable. */
export interface Cause {
  id: CauseId;
  sentence: string;
  remedy: string;
}

export interface DiagnoseInput {
  body: Uint8Array;
  /** The values of the two headers as they came, well formed or not. */
  timestamp: string;
  signature: string;
  /** The webhook's secrets. */
  secrets: readonly string[];
  tenantSecret?: string | undefined;
}

/** A larger body is not diagnosed: it would have to be held in memory, and hashed hundreds of times. */
export const mostDiagnosed = 10 * 1024 * 1024;
/** Bodies up to here are tried with two mistakes at once. */
const mostPaired = 256 * 1024;
/** And with a thousand timestamps. */
const mostWithMilliseconds = 64 * 1024;
/** Larger messages than this, all together, are not hashed: the answer must come while somebody waits for it. */
const mostHashed = 2 * 1024 ** 3;
/** Longer than any time is written; a header may hold thousands of characters. */
const longestTimestamp = 100;

/** What is signed, in parts. */
type Build = (timestamp: string, body: Uint8Array) => readonly (string | Uint8Array)[];

const contract: Build = (timestamp, body) => [timestamp, '.', body];

const messages: readonly Step<Build>[] = [
  { by: ['boundary_missing'], value: (timestamp, body) => [timestamp, body] },
  { by: ['boundary_newline'], value: (timestamp, body) => [timestamp, '\n', body] },
  { by: ['body_only'], value: (_timestamp, body) => [body] },
  { by: ['body_first'], value: (timestamp, body) => [body, '.', timestamp] },
  { by: ['body_missing'], value: (timestamp) => [timestamp, '.'] },
];

const signatureUndo: Undo<string, Uint8Array> = {
  signature_base64: (text) => [Buffer.from(text.replace(/^sha256=/i, ''), 'base64')],
  signature_prefix: (text) => [
    Buffer.from(/(?:^|[=: ])([0-9A-Fa-f]{64})$/.exec(text.trim())?.[1] ?? '', 'hex'),
  ],
};

/** What was sent, decoded in every way that gives a MAC. */
function sentMacs(signature: string): Step<Uint8Array>[] {
  const hex = /^sha256=([0-9A-Fa-f]{64})$/.exec(signature)?.[1];
  if (hex !== undefined) return [{ value: Buffer.from(hex, 'hex'), by: [] }];
  return [...undone(signatureUndo, signature)].filter(({ value }) => value.length === 32);
}

/** What is hashed: everything as it came, but for the steps given. */
interface Attempt {
  body?: Step<Uint8Array>;
  key?: Step<Key>;
  timestamp?: Step<string>;
  message?: Step<Build>;
}

function* crossed(first: readonly Attempt[], second: readonly Attempt[]): Generator<Attempt> {
  for (const one of first) for (const other of second) yield { ...one, ...other };
}

function* bodySteps(body: Uint8Array, mostCauses?: number): Generator<Step<Uint8Array>> {
  yield* undone(bodyUndo, body);
  yield* jsonSteps(body, mostCauses);
}

/** Two mistakes in the body, of which one is at its end, its beginning or its line breaks. */
function* twice(bodies: readonly Step<Uint8Array>[]): Generator<Attempt> {
  for (const { value, by } of bodies) {
    for (const next of undone(endings, value)) {
      if (!by.some((id) => next.by.includes(id))) yield { body: { ...next, by: [...by, ...next.by] } };
    }
    // What is wrapped hides the rest: it comes off first.
    if (!by.some((id) => id in wrappings)) continue;
    for (const next of jsonSteps(value)) yield { body: { ...next, by: [...by, ...next.by] } };
  }
}

const byCount = (a: Step<unknown>, b: Step<unknown>) => a.by.length - b.by.length;

/** The attempts in the order of likelihood: one mistake, then two. */
function* attempts({ body, timestamp, secrets, tenantSecret }: DiagnoseInput): Generator<Attempt> {
  const stamps = [...timestampSteps(timestamp.slice(0, longestTimestamp))].toSorted(byCount);
  const timestamps = stamps.map((step) => ({ timestamp: step }));
  const keys = Array.from(keySteps(secrets, tenantSecret), (key) => ({ key }));
  const builds = messages.map((message) => ({ message }));
  const isSmall = body.length <= mostPaired;
  // A large body is changed anew each time, rather than kept in all its forms.
  const bodies = isSmall ? [...bodySteps(body)].toSorted(byCount) : [];
  yield {};
  for (const step of isSmall ? bodies : bodySteps(body, 1)) yield { body: step };
  yield* keys;
  yield* timestamps;
  yield* builds;
  if (body.length <= mostWithMilliseconds) {
    for (const step of millisecondSteps(timestamp)) yield { timestamp: step };
  }
  if (!isSmall) return;
  const changed = bodies.map((step) => ({ body: step }));
  const likely = timestamps.filter((attempt) => attempt.timestamp.by.length === 1);
  yield* twice(bodies);
  yield* crossed(changed, keys);
  yield* crossed(changed, builds);
  yield* crossed(keys, builds);
  yield* crossed(likely, builds);
  yield* crossed(likely, keys);
  yield* crossed(changed, likely);
}

/** The first attempt that has one of the MACs that were sent: what was undone for it. */
function search(input: DiagnoseInput): readonly CauseId[] | null {
  const { body, timestamp, secrets, tenantSecret } = input;
  const sent = sentMacs(input.signature);
  if (sent.length === 0) return null;
  const configured = tenantSecret === undefined ? secrets : [tenantSecret];
  let hashed = 0;
  for (const attempt of attempts(input)) {
    const build = attempt.message?.value ?? contract;
    const message = build(attempt.timestamp?.value ?? timestamp, attempt.body?.value ?? body);
    for (const key of attempt.key === undefined ? configured : [attempt.key.value]) {
      hashed += message.reduce((sum, part) => sum + part.length, 0);
      if (hashed > mostHashed) return null;
      const mac = message.reduce((hmac, part) => hmac.update(part), openHmac(key)).digest();
      const signature = sent.find(({ value }) => mac.equals(value));
      if (signature === undefined) continue;
      const steps = [attempt.body, attempt.key, attempt.timestamp, attempt.message, signature];
      return steps.flatMap((step) => step?.by ?? []);
    }
  }
  return null;
}

/**
 * Why a signature does not match: the mistakes that, undone, make it match. Empty when none is found. What one of
 * the causes explains is proven by the signature; of causes that come to the same bytes the likeliest is named.
 */
export function diagnose(input: DiagnoseInput): Cause[] {
  const found = input.body.length > mostDiagnosed ? null : search(input);
  if (found === null) return [];
  // Everything is right as it came, but the timestamp is not one that is accepted.
  const isRefused = found.length === 0 && parseTimestamp(input.timestamp) === null;
  const ids: readonly CauseId[] = isRefused ? ['timestamp_refused'] : found;
  return ids.map((id) => ({ id, sentence: causes[id][0], remedy: causes[id][1] }));
}
