import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawer, seededIds } from '../../../src/mock/random.ts';

const uint32 = fc.nat({ max: 2 ** 32 - 1 });

describe('ids by index', () => {
  it('encode their index, for any seed', () => {
    fc.assert(
      fc.property(uint32, uint32, (seed, index) => {
        const ids = seededIds(seed, 'obs');
        expect(ids.at(index)).toMatch(/^obs_[0-9a-hjkmnp-tv-z]{12}$/);
        expect(ids.indexOf(ids.at(index))).toBe(index);
      }),
    );
  });

  it('reject any other text, however similar', () => {
    const ids = seededIds(1, 'obs');
    const id = ids.at(42);
    const close = [
      id.slice(0, -1) + (id.endsWith('0') ? '1' : '0'),
      id.toUpperCase(),
      `${id}0`,
      id.slice(0, -1),
      id.replace('obs', 'env'),
      seededIds(2, 'obs').at(42),
      seededIds(1, 'obs', 'another stream').at(42),
      'obs_',
      '',
      'obs_uuuuuuuuuuuu',
      'obs_zzzzzzzzzzzz',
    ];
    expect(close.map((text) => ids.indexOf(text))).toEqual(close.map(() => undefined));
  });

  it('are unique', () => {
    const ids = seededIds(3, 'x');
    expect(new Set(Array.from({ length: 100_000 }, (_, index) => ids.at(index))).size).toBe(100_000);
  });
});

describe('draws by index', () => {
  it('are the same for the same seed and index, whatever their order', () => {
    const [one, other] = [drawer(1, 's'), drawer(1, 's')];
    const forward = [0, 1, 2].map((index) => one(index).fraction());
    const backward = [2, 1, 0].map((index) => other(index).fraction()).reverse();
    expect(backward).toEqual(forward);
    expect(drawer(2, 's')(0).fraction()).not.toBe(forward[0]);
    expect(drawer(1, 't')(0).fraction()).not.toBe(forward[0]);
  });

  it('are independent of their neighbours', () => {
    const at = drawer(1, 's');
    const tenths = Array.from({ length: 10_000 }, (_, index) => at(index).whole(0, 9));
    const repeats = tenths.filter((tenth, index) => tenth === tenths[index - 1]).length;
    expect(Math.abs(repeats - 1000)).toBeLessThan(150);
    for (let tenth = 0; tenth < 10; tenth++) {
      expect(Math.abs(tenths.filter((one) => one === tenth).length - 1000)).toBeLessThan(150);
    }
  });
});
