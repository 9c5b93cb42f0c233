/** Crockford's base32 in lower case, which has no letters that are easily confused. */
const base32 = '0123456789abcdefghjkmnpqrstvwxyz';
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** FNV-1a, 32 bits: returns a number for the name of a stream. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/** Returns a generator of numbers from 0 to below 1 (mulberry32). Not for secrets: the seed predicts them. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the seed of one of many independent streams. */
export function streamSeed(seed: number, stream: string): number {
  return (seed ^ hash(stream)) >>> 0;
}

/** Returns the seed of one item of a stream; neighbouring items are uncorrelated (the finalizer of MurmurHash3). */
export function itemSeed(seed: number, index: number): number {
  let mixed = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Returns items by id, in order. */
export const byId = <T extends { readonly id: string }>(items: readonly T[]): Map<string, T> =>
  new Map(items.map((item) => [item.id, item]));

/** Random draws from a stream: the same sequence for the same seed. */
export type Draw = ReturnType<typeof drawFrom>;

function drawFrom(seed: number) {
  const fraction = seededRandom(seed);
  const whole = (least: number, most: number) => least + Math.floor(fraction() * (most - least + 1));
  const text = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet.charAt(whole(0, alphabet.length - 1))).join('');
  return {
    /** From 0 to below 1. */
    fraction,
    /** A whole number from `least` to `most`, inclusive. */
    whole,
    chance: (probability: number) => fraction() < probability,
    /** @param choices at least one */
    pick: <T>(choices: readonly T[]) => choices[whole(0, choices.length - 1)] as T,
    /** Characters of base32, for ids and passwords. */
    id: (length: number) => text(base32, length),
    /** Characters of base62, for keys and signatures. */
    token: (length: number) => text(base62, length),
  };
}

/** Returns a stream that is independent of the others: drawing a request id does not change the ids of runs. */
export function seededDraw(seed: number, stream: string): Draw {
  return drawFrom(streamSeed(seed, stream));
}

/** Returns draws by index: item 900,000 does not depend on the items before it. */
export function drawer(seed: number, stream: string): (index: number) => Draw {
  const base = streamSeed(seed, stream);
  return (index) => drawFrom(itemSeed(base, index));
}

/** Returns a function for the next id of a stream, `ord_5m2v…`. */
export function seededIds(seed: number, prefix: string, stream = prefix): () => string {
  const draw = seededDraw(seed, `ids of ${stream}`);
  return () => `${prefix}_${draw.id(12)}`;
}
