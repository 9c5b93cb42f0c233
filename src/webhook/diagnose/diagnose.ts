import { parseTimestamp } from '../timestamp.ts';
import { bytes, strictText } from './body.ts';
import type { Cause, Row } from './causes/row.ts';
import { rows } from './causes.ts';
import { parseNode, sortKeys, writeNode } from './json.ts';
import { type Instant, readInstant, spell, zoneOf, zones } from './timestamp.ts';

export type { Cause } from './causes/row.ts';

/** HMAC-SHA256 over the parts, one after another. */
export type Hmac = (key: Uint8Array, parts: readonly Uint8Array[]) => Uint8Array;

export interface DiagnoseInput {
  body: Uint8Array;
  /** The values of the two headers as they came, well formed or not. */
  timestamp: string;
  signature: string;
  /** The webhook's secrets. */
  secrets: readonly string[];
  tenantSecret?: string | undefined;
  hmac: Hmac;
}

/** A larger body is not diagnosed: it would have to be held in memory, and hashed hundreds of times. */
export const mostDiagnosed = 10 * 1024 * 1024;

/** Bodies up to here are tried with two mistakes at once. */
const mostPaired = 256 * 1024;
/** And with a thousand timestamps. */
const mostLost = 64 * 1024;

/** Something that may have been signed, and the rows that explain how it became what we have. */
interface Step<Value> {
  value: Value;
  by: readonly Row[];
}

type Build = (timestamp: Uint8Array, body: Uint8Array) => readonly Uint8Array[];

const isOn = <On extends Row['on']>(on: On) =>
  rows.filter((row): row is Extract<Row, { on: On }> => row.on === on);

interface Written {
  by: readonly Row[];
  write(): string;
}

/** The layouts and orders of a JSON text, each only written when it is its turn. */
function writings(bare: string): Written[] {
  const node = parseNode(bare);
  if (node === null || node.kind === 'scalar') return [];
  const layouts = isOn('layout');
  const own = layouts.find(({ layout }) => writeNode(node, layout) === bare);
  const all = [false, true].flatMap((sorted) =>
    layouts.map((row) => ({
      by: [...(row === own ? [] : [row]), ...(sorted ? isOn('order') : [])],
      write: () => writeNode(sorted ? sortKeys(node) : node, row.layout),
    })),
  );
  // Without a layout of its own, a text can only be kept as it is.
  return own === undefined ? [{ by: [], write: () => bare }, ...all] : all;
}

/** Up to three mistakes, one of a kind: they come together, since one serialiser makes them all. */
function* jsonSteps(body: Uint8Array, mostRows = 3): Generator<Step<Uint8Array>> {
  const text = strictText(body) ?? '';
  const bare = text.replace(/^\ufeff/, '').trim();
  // What stands around it is another mistake, or none.
  const start = text.indexOf(bare);
  const [lead, tail] = [text.slice(0, start), text.slice(start + bare.length)];
  const styles = [
    { style: (text: string) => text, by: [] as Row[] },
    ...isOn('strings').flatMap((row) => row.styles.map((style) => ({ style, by: [row] as Row[] }))),
  ];
  for (const written of writings(bare)) {
    if (written.by.length > mostRows) continue;
    const plain = written.write();
    for (const { style, by } of styles) {
      const all = [...written.by, ...by];
      if (all.length === 0 || all.length > mostRows) continue;
      const styled = style(plain);
      if (by.length === 0 || styled !== plain) yield { value: bytes(`${lead}${styled}${tail}`), by: all };
    }
  }
}

function* bodySteps(body: Uint8Array): Generator<Step<Uint8Array>> {
  for (const row of isOn('body')) {
    for (const value of row.undo(body)) yield { value, by: [row] };
  }
  yield* jsonSteps(body, body.length <= mostPaired ? 3 : 1);
}

function* keySteps(keys: readonly string[]): Generator<Step<Uint8Array>> {
  for (const key of keys) {
    for (const row of isOn('key')) {
      for (const value of row.undo(key)) {
        const bare: Uint8Array = typeof value === 'string' ? bytes(value) : value;
        if (value !== key) yield { value: bare, by: [row] };
      }
    }
  }
}

/** The webhook's secrets, where the tenant's takes their place: they were not tried. */
function* otherKeys({ secrets, tenantSecret }: DiagnoseInput): Generator<Step<Uint8Array>> {
  if (tenantSecret === undefined) return;
  for (const [index, secret] of secrets.entries()) {
    yield { value: bytes(secret), by: isOn(index === 0 ? 'webhook' : 'old') };
  }
}

function* spellings(text: string, instant: Instant): Generator<Step<string>> {
  const digits = [instant.fraction.length, 3, 0, 6, 9, 1, 2, 4, 5, 7, 8];
  const own = zoneOf(text);
  for (const [index, count] of [...new Set(digits)].entries()) {
    for (const zone of zones) {
      const by = [...(index === 0 ? [] : isOn('fraction')), ...(zone[0] === own ? [] : isOn('zone'))];
      if (by.length > 0) yield { value: spell(instant, count, zone), by };
    }
  }
}

function* timestampSteps(text: string): Generator<Step<string>> {
  const instant = readInstant(text);
  if (instant !== null) yield* spellings(text, instant);
  for (const row of isOn('timestamp')) {
    for (const value of row.undo(text, instant?.ms ?? null)) yield { value, by: [row] };
  }
}

/** Every millisecond of the second. */
function* lostSteps(text: string): Generator<Step<string>> {
  const instant = readInstant(text);
  if (instant === null || /[1-9]/.test(instant.fraction)) return;
  const zone = zoneOf(text);
  const minutes = zones.find(([name]) => name === zone)?.[1] ?? 0;
  for (let ms = 1; ms < 1000; ms += 1) {
    const fraction = String(ms).padStart(3, '0');
    yield { value: spell({ ms: instant.ms, fraction }, 3, [zone, minutes]), by: isOn('lost') };
  }
}

/** Longer than any time is written; a header may hold thousands of characters. */
const longestTimestamp = 100;

/** What was sent, decoded in every way that gives a MAC. */
function signatureSteps(text: string): Step<Uint8Array>[] {
  const hex = /^sha256=([0-9A-Fa-f]{64})$/.exec(text)?.[1];
  if (hex !== undefined) return [{ value: Buffer.from(hex, 'hex'), by: [] }];
  return isOn('signature')
    .flatMap((row) => row.decode(text).map((value) => ({ value, by: [row] })))
    .filter(({ value }) => value.length === 32);
}

const contract: Build = (timestamp, body) => [timestamp, bytes('.'), body];

/** What is asked for: everything as it came, but for the steps given. */
interface Attempt {
  body?: Step<Uint8Array>;
  key?: Step<Uint8Array>;
  timestamp?: Step<string>;
  message?: Step<Build>;
}

function* crossed<A, B>(first: readonly A[], second: readonly B[]): Generator<A & B> {
  for (const a of first) for (const b of second) yield { ...a, ...b };
}

/** The attempts in the order of likelihood: one mistake, then two. */
function* attempts(input: DiagnoseInput): Generator<Attempt> {
  const { body, timestamp, secrets, tenantSecret } = input;
  const configured = tenantSecret === undefined ? secrets : [tenantSecret];
  const messages = isOn('message').map((row) => ({
    message: { value: row.build, by: [row] } as Step<Build>,
  }));
  const timestamps = [...timestampSteps(timestamp.slice(0, longestTimestamp))]
    .toSorted((a, b) => a.by.length - b.by.length)
    .map((step) => ({ timestamp: step }));
  const keys = [
    ...otherKeys(input),
    ...keySteps([...configured, ...(tenantSecret === undefined ? [] : secrets)]),
  ].map((key) => ({ key }));
  yield {};
  const isSmall = body.length <= mostPaired;
  // A large body is changed anew each time, rather than kept in all its forms.
  const bodies = isSmall ? [...bodySteps(body)].toSorted((a, b) => a.by.length - b.by.length) : [];
  for (const step of isSmall ? bodies : bodySteps(body)) yield { body: step };
  yield* keys;
  yield* timestamps;
  yield* messages;
  if (body.length <= mostLost) for (const step of lostSteps(timestamp)) yield { timestamp: step };
  if (!isSmall) return;
  const changed = bodies.map((step) => ({ body: step }));
  yield* twice(bodies);
  yield* crossed(changed, keys);
  yield* crossed(changed, messages);
  yield* crossed(keys, messages);
  const likely = timestamps.filter(({ timestamp: { by } }) => by.length === 1);
  yield* crossed(likely, messages);
  yield* crossed(likely, keys);
  yield* crossed(changed, likely);
}

/** Two mistakes in the body, of which one is at its end, its beginning or its line breaks. */
function* twice(bodies: readonly Step<Uint8Array>[]): Generator<Attempt> {
  const cheap = rows.filter((row) => row.on === 'body' && row.cheap === true) as Extract<
    Row,
    { on: 'body' }
  >[];
  for (const step of bodies) {
    for (const row of cheap) {
      if (step.by.includes(row)) continue;
      for (const value of row.undo(step.value)) yield { body: { value, by: [...step.by, row] } };
    }
    // What is wrapped hides the rest: it comes off first.
    if (step.by[0]?.on !== 'body' || step.by[0].wraps !== true) continue;
    for (const next of jsonSteps(step.value))
      yield { body: { value: next.value, by: [...step.by, ...next.by] } };
  }
}

/** Larger messages than this, all together, are not hashed: the answer must come while somebody waits for it. */
const mostHashed = 2 * 1024 ** 3;

/**
 * Why a signature does not match: the mistakes that, undone, make it match. Empty when none is found. What one of
 * the causes explains is proven by the signature; of causes that come to the same bytes the likeliest is named.
 */
export function diagnose(input: DiagnoseInput): Cause[] {
  const { body, timestamp, secrets, tenantSecret, hmac } = input;
  if (body.length > mostDiagnosed) return [];
  const sent = signatureSteps(input.signature);
  const configured = (tenantSecret === undefined ? secrets : [tenantSecret]).map(bytes);
  const seal = (row: Step<Uint8Array>, attempt: Attempt) => {
    const parts = [attempt.body, attempt.key, attempt.timestamp, attempt.message];
    const by = [...parts.flatMap((part) => part?.by ?? []), ...row.by];
    return by.length === 0 && parseTimestamp(timestamp) === null ? isOn('refused') : by;
  };
  let hashed = 0;
  for (const attempt of sent.length === 0 ? [] : attempts(input)) {
    const stamp = bytes(attempt.timestamp?.value ?? timestamp);
    const message = (attempt.message?.value ?? contract)(stamp, attempt.body?.value ?? body);
    for (const key of attempt.key === undefined ? configured : [attempt.key.value]) {
      hashed += message.reduce((sum, part) => sum + part.length, 0);
      if (hashed > mostHashed) return [];
      const mac = hmac(key, message);
      const found = sent.find(({ value }) => Buffer.compare(value, mac) === 0);
      if (found !== undefined) {
        return seal(found, attempt).map(({ id, sentence, remedy }) => ({ id, sentence, remedy }));
      }
    }
  }
  return [];
}
