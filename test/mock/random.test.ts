import { describe, expect, it } from 'vitest';
import { seededDraw, seededRandom } from '../../src/mock/random.ts';

describe('numbers by seed', () => {
  it('repeat for the same seed, differ for another, and spread evenly from 0 up to 1', () => {
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

describe('text by seed', () => {
  it('is another one in each stream, so ids of one kind do not depend on those of another', () => {
    expect(seededDraw(1, 'run').id(12)).toBe(seededDraw(1, 'run').id(12));
    expect(seededDraw(1, 'run').id(12)).not.toBe(seededDraw(1, 'req').id(12));
    expect(seededDraw(1, 'run').id(12)).not.toBe(seededDraw(2, 'run').id(12));
  });

  it('does not repeat itself', () => {
    const text = seededDraw(1, 'run');
    expect(new Set(Array.from({ length: 10_000 }, () => text.id(12))).size).toBe(10_000);
  });
});
