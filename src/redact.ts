import { sanitize } from './sanitize.ts';

/** Takes the known secrets out of a text. */
export type Redact = (text: string) => string;

/** For what holds no secret. */
export const redactNothing: Redact = (text) => text;

const none: readonly never[] = [];
const mark = '***';
/** Shorter texts are not secrets, and to replace them would shred what is shown. */
const shortest = 4;
/** From this length on a secret is found in any case and in base64, too. */
const long = 8;

/** A secret in one of its spellings, as character codes; folded where `loose`. */
interface Needle {
  readonly codes: readonly number[];
  readonly loose: boolean;
}

/** Lower case, and base64url as base64. */
function fold(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code + 32;
  if (code === 0x2d) return 0x2b;
  if (code === 0x5f) return 0x2f;
  return code < 0x80 ? code : String.fromCharCode(code).toLowerCase().charCodeAt(0);
}

/** The characters that are folded to one. */
function unfolded(code: number): number[] {
  const upper = String.fromCharCode(code).toUpperCase().charCodeAt(0);
  return [...new Set([code, upper, ...(code === 0x2b ? [0x2d] : code === 0x2f ? [0x5f] : [])])];
}

/** What base64 makes of the bytes after 0, 1 or 2 others, without the digits that depend on their neighbours. */
function base64(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

function needlesOf(secret: string): Needle[] {
  const bytes = Buffer.from(secret);
  const loose = secret.length >= long;
  // Percent-encoding spells the bytes of UTF-8, one by one.
  const upper = Buffer.from(secret.toUpperCase()).toString('latin1');
  const spellings = [
    secret,
    sanitize(secret),
    bytes.toString('latin1'),
    ...(loose ? [upper, ...base64(bytes)] : []),
  ];
  return [...new Set(spellings)].map((spelling) => ({
    codes: Array.from({ length: spelling.length }, (_, at) => {
      const code = spelling.charCodeAt(at);
      return loose ? fold(code) : code;
    }),
    loose,
  }));
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const jsonEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const percent = /%((?:25){0,3})([0-9a-f]{2})/iy;
const backslash = /\\{1,8}(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(["/bfnrt]))/iy;
const entity = /&(?:(?:#|\\u0023)(?:(\d{1,8})|x([0-9a-f]{1,8}))|(amp|lt|gt|quot|apos));/iy;

/** A character as its code, and where it ends in the text. */
type Token = readonly [code: number, end: number];

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/**
 * Where so many backslashes may end in the text: as they are, or doubled once, twice or three times, as JSON within JSON has
 * them. A run is read as one: backslash by backslash, each could be written in four ways.
 */
function backslashEnds(text: string, at: number, count: number): number[] {
  let end = at;
  while (end < at + 8 * count && text.charCodeAt(end) === 0x5c) end += 1;
  return [8, 4, 2, 1].map((times) => at + times * count).filter((one) => one <= end);
}

/** What the text may mean by an escape that begins there; nothing where none does. */
function escapesAt(text: string, at: number): readonly Token[] {
  switch (text.charCodeAt(at)) {
    case 0x25: {
      const [, again = '', hex = ''] = matchAt(percent, text, at) ?? [];
      if (hex === '') return none;
      const end = at + 1 + again.length;
      // `%25` may stand for a percent sign, or begin what was encoded twice.
      const signs = Array.from({ length: again.length / 2 }, (_, n): Token => [0x25, at + 3 + 2 * n]);
      return [[Number.parseInt(hex, 16), end + 2], ...signs.reverse()];
    }
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

/** Where text was cut: an ellipsis in one of its spellings, perhaps behind half of an escape. */
const cut =
  /(?:[%\\&][^\s…]{0,7})?(?:…|\.{3}|%(?:25){0,3}e2%(?:25){0,3}80%(?:25){0,3}a6|\\{1,8}u2026|&(?:hellip|#8230|#x2026);)/iy;
/** Half of an escape at the end of the text. */
const tornEscape = /(?:[%\\&][^\s;]{0,11})?$/y;

/** Whether a text that ends here, after so many characters of a secret, was cut out of more. */
function isCut(text: string, at: number, matched: number): boolean {
  if (matched < shortest) return false;
  if (matchAt(cut, text, at) !== null) return true;
  return matched >= long && text.length - at <= 12 && matchAt(tornEscape, text, at) !== null;
}

/**
 * The end of the needle, or of as much of it as a cut has left, from its character `from` on; -1 where it is not there. What
 * the text may mean is followed side by side, so that the same place is never looked at twice for one character.
 */
function follow(text: string, start: number, { codes, loose }: Needle, from: number): number {
  const reached: (number[] | undefined)[] = [];
  const reach = (index: number, at: number) => {
    const places = reached[index];
    if (places === undefined) reached[index] = [at];
    else if (!places.includes(at)) places.push(at);
  };
  reach(from, start);
  let cutAt = -1;
  /** The first character that nothing has reached, from where on nothing will be. */
  let horizon = from + 1;
  for (let index = from; index < Math.min(horizon, codes.length); index += 1) {
    for (const at of reached[index] ?? none) {
      const code = text.charCodeAt(at);
      let next = index;
      const take = (to: number, end: number) => {
        reach(to, end);
        next = Math.max(next, to);
      };
      if (code === 0x5c && codes[index] === 0x5c) {
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
 * Returns a function that takes secrets of four characters and more out of a text: as they are, and with any characters
 * escaped as in URLs, JSON or HTML; from eight characters on also in any case and in base64, and the beginning of one that
 * was cut off with an ellipsis. The time it takes grows with the text alone.
 */
export function redactor(secrets: readonly string[]): Redact {
  const needles = [...new Set(secrets)].filter(({ length }) => length >= shortest).flatMap(needlesOf);
  if (needles.length === 0) return redactNothing;
  /** The needles by the first character as a text may have it. */
  const starts = new Map<number, Needle[]>();
  for (const needle of needles) {
    const [first = 0] = needle.codes;
    for (const code of needle.loose ? unfolded(first) : [first])
      starts.set(code, [...(starts.get(code) ?? none), needle]);
  }
  const isStart = new Uint8Array(0x10000);
  for (const code of [...starts.keys(), ...escapeMarks]) isStart[code] = 1;

  const endAt = (text: string, at: number, escapes: readonly Token[]): number => {
    let end = -1;
    const next = text.charCodeAt(at + 1);
    for (const needle of starts.get(text.charCodeAt(at)) ?? none) {
      // Most end here: a call for each would take most of the time.
      if ((needle.loose ? fold(next) : next) !== needle.codes[1] && !isEscapeMark(next)) continue;
      end = Math.max(end, follow(text, at, needle, 0));
    }
    for (const [code, after] of escapes)
      for (const needle of starts.get(code) ?? none) end = Math.max(end, follow(text, after, needle, 1));
    return end;
  };

  return (text) => {
    const found: { start: number; end: number }[] = [];
    let [escapeStart, escapeEnd] = [-1, -1];
    for (let at = 0; at < text.length; at += 1) {
      if (isStart[text.charCodeAt(at)] === 0) continue;
      const escapes = escapesAt(text, at);
      if (at >= escapeEnd && escapes[0] !== undefined) [escapeStart, escapeEnd] = [at, escapes[0][1]];
      const end = endAt(text, at, escapes);
      if (end < 0) continue;
      // Half of an escape would make what is left another text, or JSON that cannot be read.
      const start = at < escapeEnd ? escapeStart : at;
      const last = found.at(-1);
      if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
      else found.push({ start, end });
    }
    let [shown, shownTo] = ['', 0];
    for (const { start, end } of found) {
      shown += text.slice(shownTo, start) + mark;
      shownTo = end;
    }
    return shown + text.slice(shownTo);
  };
}

/** The text without the secrets. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  return redactor(secrets)(text);
}
