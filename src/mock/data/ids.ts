import { itemSeed, readBase32, streamSeed, writeBase32 } from '../random.ts';

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
