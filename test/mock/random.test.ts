import { describe, expect, it } from 'vitest';
import { seededDraw, seededRandom } from '../../src/mock/random.ts';

describe('seeded numbers', () => {
  it('repeat for the same seed, differ for another, and are uniform from 0 to below 1', () => {
    const draw = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 10_000 }, random);
    };
    const numbers = draw(1);
    expect(draw(1)).toEqual(numbers);
    expect(draw(2)).not.toEqual(numbers);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
    for (let tenth = 0; tenth < 10; tenth++) {
      const share = numbers.filter((number) => Math.floor(number * 10) === tenth).length;
      expect(Math.abs(share - 1000)).toBeLessThan(150);
    }
  });
});

describe('seeded text', () => {
  it('differs between streams, so that ids with one prefix do not depend on those with another', () => {
    expect(seededDraw(1, 'run').id(12)).toBe(seededDraw(1, 'run').id(12));
    expect(seededDraw(1, 'run').id(12)).not.toBe(seededDraw(1, 'req').id(12));
    expect(seededDraw(1, 'run').id(12)).not.toBe(seededDraw(2, 'run').id(12));
  });

  it('does not repeat itself', () => {
    const text = seededDraw(1, 'run');
    expect(new Set(Array.from({ length: 10_000 }, () => text.id(12))).size).toBe(10_000);
  });
});
