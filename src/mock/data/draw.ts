import { itemSeed, seededRandom, streamSeed, writeBase32 } from '../random.ts';

/** A list to draw from has something in it. */
export type Choices<T> = readonly [T, ...T[]];

/** What one item of a data set is made of: the same draws in the same order for the same seed and index. */
export interface Draw {
  /** From 0 up to 1. */
  fraction(): number;
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: Choices<T>): T;
  /** `length` characters of base32, for ids and passwords. */
  id(length: number): string;
}

function drawFrom(seed: number): Draw {
  const fraction = seededRandom(seed);
  const whole = (least: number, most: number) => least + Math.floor(fraction() * (most - least + 1));
  return {
    fraction,
    whole,
    chance: (probability) => fraction() < probability,
    pick: (choices) => choices[whole(0, choices.length - 1)] ?? choices[0],
    id(length) {
      let text = '';
      // Six characters are 30 of the 32 bits that a draw has.
      while (text.length < length) text += writeBase32(whole(0, 32 ** 6 - 1), 6);
      return text.slice(0, length);
    },
  };
}

/** Draws by index: item 900,000 can be made without the 900,000 before it. */
export function drawer(seed: number, stream: string): (index: number) => Draw {
  const base = streamSeed(seed, stream);
  return (index) => drawFrom(itemSeed(base, index));
}
