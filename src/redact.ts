import { sanitize } from './sanitize.ts';

/** Replaces the known secrets in a text. */
export type Redact = (text: string) => string;

export const redactNothing: Redact = (text) => text;

const none: readonly never[] = [];
const mark = '***';
/** Shorter texts are not redacted: replacing them would garble the output. */
const shortest = 4;
/** From this length on, a secret is also found in any letter case and in base64. */
const long = 8;

/** One spelling of a secret, as character codes; folded if `loose`. */
interface Needle {
  readonly codes: readonly number[];
  readonly loose: boolean;
}

/** Maps letters to lower case, and base64url characters to base64. */
function fold(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code + 32;
  if (code === 0x2d) return 0x2b;
  if (code === 0x5f) return 0x2f;
  return code < 0x80 ? code : String.fromCharCode(code).toLowerCase().charCodeAt(0);
}

/** Returns the characters that `fold` maps to this one. */
function unfolded(code: number): number[] {
  const upper = String.fromCharCode(code).toUpperCase().charCodeAt(0);
  return [...new Set([code, upper, ...(code === 0x2b ? [0x2d] : code === 0x2f ? [0x5f] : [])])];
}

/** Returns the base64 of the bytes after 0, 1 or 2 others, without the digits that depend on neighbouring bytes. */
export function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

function needlesOf(secret: string): Needle[] {
  const bytes = Buffer.from(secret);
  const loose = secret.length >= long;
  // Percent-encoding encodes the bytes of UTF-8 separately.
  const upper = Buffer.from(secret.toUpperCase()).toString('latin1');
  const spellings = [
    secret,
    sanitize(secret),
    secret.replace(/\s+/g, ' '),
    bytes.toString('latin1'),
    ...(loose ? [upper, ...base64Forms(bytes)] : []),
  ];
  // Messages show text in one line, so whitespace matches any other. Bytes in Latin-1 may look like other whitespace.
  const collapsed = spellings.map((spelling) => {
    const words = spelling.replace(/[\t-\r ]+/g, ' ').replace(/^ | $/g, '');
    return words.length < shortest ? spelling : words;
  });
  return [...new Set(collapsed)]
    .filter(({ length }) => length >= shortest)
    .map((spelling) => ({
      codes: Array.from({ length: spelling.length }, (_, at) => {
        const code = spelling.charCodeAt(at);
        return loose ? fold(code) : code;
      }),
      loose,
    }));
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const jsonEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const backslash = /\\{1,8}(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(["/bfnrt]))/iy;
const entity = /&(?:(?:#|\\u0023)(?:(\d{1,8})|x([0-9a-f]{1,8}))|(amp|lt|gt|quot|apos));/iy;

/** The code of a character and the index at which it ends in the text. */
type Token = readonly [code: number, end: number];

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/**
 * Returns the indexes at which `count` backslashes may end in the text: unescaped, or doubled once, twice or three times,
 * as in nested JSON. Consecutive backslashes are read together: one by one, each could be written in four ways.
 */
function backslashEnds(text: string, at: number, count: number): number[] {
  let end = at;
  while (end < at + 8 * count && text.charCodeAt(end) === 0x5c) end += 1;
  return [8, 4, 2, 1].map((times) => at + times * count).filter((one) => one <= end);
}

/** Returns the value of a hexadecimal digit, or -1. */
function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Returns the character that two hexadecimal digits at the index stand for, each percent-encoded up to `times` times. */
function hexPair(text: string, at: number, times: number): Token | null {
  const [first, next] = percentDecoded(text, at, times);
  const high = hexValue(first);
  if (high < 0) return null;
  const [second, end] = percentDecoded(text, next, times);
  const low = hexValue(second);
  return low < 0 ? null : [16 * high + low, end];
}

/** Returns the character at the index of the text after decoding it from percent-encoding `times` times. */
function percentDecoded(text: string, at: number, times: number): Token {
  let token: Token = [text.charCodeAt(at), at + 1];
  for (let time = 0; time < times && token[0] === 0x25; time += 1)
    token = hexPair(text, token[1], time) ?? token;
  return token;
}

/** Returns the meanings of a percent sign, decoded up to four times, the longest first; none if it encodes nothing. */
function percentEscapes(text: string, at: number): readonly Token[] {
  const found: Token[] = [];
  let end = at + 1;
  for (let time = 0; time < 4 && (found[0]?.[0] ?? 0x25) === 0x25; time += 1) {
    const token = hexPair(text, end, time);
    if (token === null) continue;
    found.unshift(token);
    end = token[1];
  }
  return found;
}

/** Returns the possible meanings of an escape that begins at the index, or nothing if none does. */
function escapesAt(text: string, at: number): readonly Token[] {
  switch (text.charCodeAt(at)) {
    case 0x25:
      // Each sign in a row takes one more decoding.
      if (text.startsWith('%%%%%', at)) return none;
      // `%25` is either a percent sign or the beginning of a character that was encoded again.
      return percentEscapes(text, at);
    case 0x5c: {
      const [whole = '', long4, short2, letter = ''] = matchAt(backslash, text, at) ?? [];
      if (whole === '') return none;
      const hex = long4 ?? short2;
      const code =
        hex === undefined ? (jsonEscapes[letter] ?? letter).charCodeAt(0) : Number.parseInt(hex, 16);
      return [[code, at + whole.length]];
    }
    case 0x26: {
      const [whole = '', decimal, hex, name] = matchAt(entity, text, at) ?? [];
      if (whole === '') return none;
      const code =
        name === undefined
          ? Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10)
          : (named[name.toLowerCase()] ?? '').charCodeAt(0);
      return [[code, at + whole.length]];
    }
    case 0x2b:
      return [[0x20, at + 1]];
    default:
      return none;
  }
}

const escapeMarks = [0x25, 0x5c, 0x26, 0x2b] as const;
const isEscapeMark = (code: number) => code === 0x25 || code === 0x5c || code === 0x26 || code === 0x2b;

const space = 0x20;
const isSpace = (code: number) =>
  code === space || (code >= 0x09 && code <= 0x0d) || (code > 0x7f && /\s/.test(String.fromCharCode(code)));

/** Returns the index after one whitespace character at the index, which may be escaped, or -1. */
function spaceEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (isSpace(code)) return at + 1;
  return (isEscapeMark(code) && escapesAt(text, at).find(([meant]) => isSpace(meant))?.[1]) || -1;
}

/** From this many characters on, the end of whitespace is remembered: it may be needed from each of its characters. */
const longSpace = 16;

/** Returns a function of an index at which the following characters end; `next` gives the index after one of them, or -1. */
function runsIn(text: string, next: (at: number) => number): (start: number) => number {
  /** The end of a long run, by the index of each character in it; 0 for any other. */
  let ends: Uint32Array | undefined;
  return (start) => {
    let last = start;
    let count = 0;
    for (let at = start; at >= 0; at = ends?.[last] || next(last)) {
      last = at;
      count += 1;
    }
    if (count > longSpace) {
      ends ??= new Uint32Array(text.length + 1);
      for (let at = start; at < last && ends[at] === 0; at = next(at)) ends[at] = last;
    }
    return last;
  };
}

/**
 * Returns the indexes at which whitespace that begins at an index may end: after its first character, before a `+`, which
 * may be one of the secret, and after all of it; none without any.
 */
type SpaceEnds = (start: number) => readonly number[];

function spacesIn(text: string): SpaceEnds {
  const beforePlus = runsIn(text, (at) => (text.charCodeAt(at) === 0x2b ? -1 : spaceEnd(text, at)));
  const afterAll = runsIn(text, (at) => spaceEnd(text, at));
  return (start) => {
    const first = spaceEnd(text, start);
    return first < 0 ? none : [first, beforePlus(first), afterAll(first)];
  };
}

/** A cut in the text: an ellipsis in any spelling, possibly after half an escape. */
const cut =
  /(?:[%\\&][^\s…]{0,7})?(?:…|\.{3}|%(?:25){0,3}e2%(?:25){0,3}80%(?:25){0,3}a6|\\{1,8}u2026|&(?:hellip|#8230|#x2026);)/iy;
/** Half an escape at the end of the text. */
const tornEscape = /(?:[%\\&][^\s;]{0,11})?$/y;

/** Whether the text was cut off here, after `matched` characters of a secret. */
function isCut(text: string, at: number, matched: number): boolean {
  if (matched < shortest) return false;
  if (matchAt(cut, text, at) !== null) return true;
  return matched >= long && text.length - at <= 12 && matchAt(tornEscape, text, at) !== null;
}

/**
 * Returns the index at which the needle ends, or the part of it before a cut, or -1. All possible meanings of the text
 * are followed in parallel, so that no place is examined twice for the same character.
 * @param from the index of the first character of the needle to match
 */
function follow(
  text: string,
  start: number,
  { codes, loose }: Needle,
  from: number,
  spaceEnds: SpaceEnds,
): number {
  const reached: (number[] | undefined)[] = [];
  const reach = (index: number, at: number) => {
    const places = reached[index];
    if (places === undefined) reached[index] = [at];
    else if (!places.includes(at)) places.push(at);
  };
  reach(from, start);
  let cutAt = -1;
  /** The first character of the needle that has not been reached; none after it will be. */
  let horizon = from + 1;
  for (let index = from; index < Math.min(horizon, codes.length); index += 1) {
    for (const at of reached[index] ?? none) {
      const code = text.charCodeAt(at);
      let next = index;
      const take = (to: number, end: number) => {
        reach(to, end);
        next = Math.max(next, to);
      };
      if (codes[index] === space) for (const end of spaceEnds(at)) take(index + 1, end);
      else if (code === 0x5c && codes[index] === 0x5c) {
        let run = 1;
        while (codes[index + run] === 0x5c) run += 1;
        for (const end of backslashEnds(text, at, run)) take(index + run, end);
      } else if ((loose ? fold(code) : code) === codes[index]) take(index + 1, at + 1);
      if (isEscapeMark(code))
        for (const [one, end] of escapesAt(text, at))
          if ((loose ? fold(one) : one) === codes[index]) take(index + 1, end);
      if ((next === index || isEscapeMark(code)) && isCut(text, at, index)) cutAt = at;
      horizon = Math.max(horizon, next + 1);
    }
  }
  return Math.max(cutAt, ...(reached[codes.length] ?? none));
}

/**
 * Returns a function that replaces secrets of at least 4 characters in a text, even if characters are escaped as in URLs,
 * JSON or HTML. Secrets of at least 8 characters are also found in any letter case and in base64. The beginning of a
 * secret is found before an ellipsis. The time is linear in the length of the text.
 */
export function redactor(secrets: readonly string[]): Redact {
  const needles = [...new Set(secrets)].filter(({ length }) => length >= shortest).flatMap(needlesOf);
  if (needles.length === 0) return redactNothing;
  /** The needles by each possible first character in a text. */
  const starts = new Map<number, Needle[]>();
  for (const needle of needles) {
    const [first = 0] = needle.codes;
    for (const code of needle.loose ? unfolded(first) : [first])
      starts.set(code, [...(starts.get(code) ?? none), needle]);
  }
  const isStart = new Uint8Array(0x10000);
  for (const code of [...starts.keys(), ...escapeMarks]) isStart[code] = 1;

  const endAt = (text: string, at: number, escapes: readonly Token[], spaceEnds: SpaceEnds): number => {
    let end = -1;
    const next = text.charCodeAt(at + 1);
    for (const needle of starts.get(text.charCodeAt(at)) ?? none) {
      // Most needles fail here; calling `follow` for each of them would dominate the time.
      const second = needle.codes[1];
      if ((needle.loose ? fold(next) : next) !== second && second !== space && !isEscapeMark(next)) continue;
      end = Math.max(end, follow(text, at, needle, 0, spaceEnds));
    }
    for (const [code, after] of escapes)
      for (const needle of starts.get(code) ?? none)
        end = Math.max(end, follow(text, after, needle, 1, spaceEnds));
    return end;
  };

  return (text) => {
    const found: { start: number; end: number }[] = [];
    const spaceEnds = spacesIn(text);
    let [escapeStart, escapeEnd] = [-1, -1];
    for (let at = 0; at < text.length; at += 1) {
      if (isStart[text.charCodeAt(at)] === 0) continue;
      const escapes = escapesAt(text, at);
      if (at >= escapeEnd && escapes[0] !== undefined) [escapeStart, escapeEnd] = [at, escapes[0][1]];
      const end = endAt(text, at, escapes, spaceEnds);
      if (end < 0) continue;
      // Cutting an escape in half would change the rest of the text, or break JSON.
      const start = at < escapeEnd ? escapeStart : at;
      const last = found.at(-1);
      if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
      else found.push({ start, end });
    }
    let [redacted, copiedTo] = ['', 0];
    for (const { start, end } of found) {
      redacted += text.slice(copiedTo, start) + mark;
      copiedTo = end;
    }
    return redacted + text.slice(copiedTo);
  };
}

export function redactSecrets(text: string, secrets: readonly string[]): string {
  return redactor(secrets)(text);
}
