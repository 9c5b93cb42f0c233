/** Crockford's base32 in lower case: no letter that is easily read as another. */
const base32 = '0123456789abcdefghjkmnpqrstvwxyz';
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** FNV-1a, 32 bits: turns the name of a stream into a number. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). Not for secrets: everybody can redo it. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of one of many independent streams. */
export function streamSeed(seed: number, stream: string): number {
  return (seed ^ hash(stream)) >>> 0;
}

/** The seed of one item of a stream. Neighbours have nothing in common (the finalizer of MurmurHash3). */
export function itemSeed(seed: number, index: number): number {
  let mixed = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A whole number below 32^length as `length` characters. */
function writeBase32(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32))
    text = base32.charAt(rest % 32) + text;
  return text;
}

/** The number that was written, or undefined for other text. */
function readBase32(text: string): number | undefined {
  let value = 0;
  for (const character of text) {
    const digit = base32.indexOf(character);
    if (digit < 0) return undefined;
    value = value * 32 + digit;
  }
  return value;
}

/** A list to draw from has something in it. */
export type Choices<T> = readonly [T, ...T[]];

/** Draws from a stream: the same in the same order for the same seed. */
export interface Draw {
  /** From 0 up to 1. */
  fraction(): number;
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: Choices<T>): T;
  /** `length` characters of base32, for ids and passwords. */
  id(length: number): string;
  /** `length` characters of base62, for keys and signatures. */
  token(length: number): string;
}

function drawFrom(seed: number): Draw {
  const fraction = seededRandom(seed);
  const whole = (least: number, most: number) => least + Math.floor(fraction() * (most - least + 1));
  const text = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet.charAt(whole(0, alphabet.length - 1))).join('');
  return {
    fraction,
    whole,
    chance: (probability) => fraction() < probability,
    pick: (choices) => choices[whole(0, choices.length - 1)] ?? choices[0],
    id: (length) => text(base32, length),
    token: (length) => text(base62, length),
  };
}

/** Each stream is independent, so that drawing one more request id does not change the ids of the runs. */
export function seededDraw(seed: number, stream: string): Draw {
  return drawFrom(streamSeed(seed, stream));
}

/** Draws by index: item 900,000 can be made without the 900,000 before it. */
export function drawer(seed: number, stream: string): (index: number) => Draw {
  const base = streamSeed(seed, stream);
  return (index) => drawFrom(itemSeed(base, index));
}

/** Ids that look drawn, and yet tell which item of a data set they belong to. */
export interface Ids {
  at(index: number): string;
  /** The index of an id that `at` gives for one; undefined for any other text. */
  indexOf(id: string): number | undefined;
}

/** Odd, so that multiplying by it modulo 2^32 can be undone. */
const factor = 0x9e3779b1;

/** The number that undoes the factor: each round doubles the bits that are right, from the lowest five on. */
const inverse = [1, 2, 3, 4].reduce((guess) => Math.imul(guess, 2 - Math.imul(factor, guess)), factor);

/** 32 bits are seven characters; the five before depend on them, so that a mistyped id is nobody's. */
const checkLength = 5;
const indexLength = 7;

export function seededIds(seed: number, prefix: string, stream = prefix): Ids {
  const base = streamSeed(seed, `ids of ${stream}`);
  const at = (index: number) => {
    const mixed = Math.imul(index ^ base, factor) >>> 0;
    const check = itemSeed(base, mixed) % 32 ** checkLength;
    return `${prefix}_${writeBase32(check, checkLength)}${writeBase32(mixed, indexLength)}`;
  };
  return {
    at,
    indexOf(id) {
      const mixed = readBase32(id.slice(-indexLength));
      if (mixed === undefined) return undefined;
      const index = (Math.imul(mixed, inverse) ^ base) >>> 0;
      return at(index) === id ? index : undefined;
    },
  };
}
