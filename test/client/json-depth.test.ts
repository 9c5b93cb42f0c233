import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deepestReply, isDeeper, isDeeperParsed, isFuller, mostValues } from '../../src/client/json-depth.ts';

/** JSON as text, with what no parsed value shows: names that come twice, brackets and escapes in strings, spaces. */
const strings = fc
  .array(fc.constantFrom('[', ']', '{', '}', '\\"', '\\\\', '\\u005b', ',', ':', 'a', ' '), { maxLength: 8 })
  .map((parts) => `"${parts.join('')}"`);
const names = fc.constantFrom('"a"', '"b"', '"__proto__"', '"["', '"}"');
const spaces = fc.constantFrom('', ' ', '\n');

const { json } = fc.letrec<{ json: string; array: string; object: string }>((tie) => ({
  array: fc
    .tuple(spaces, fc.array(tie('json'), { maxLength: 4 }))
    .map(([space, parts]) => `[${space}${parts.join(`${space},`)}]`),
  object: fc
    .tuple(spaces, fc.array(fc.tuple(names, tie('json')), { maxLength: 4 }))
    .map(([space, members]) => `{${members.map(([name, value]) => `${name}${space}:${value}`).join(',')}}`),
  json: fc.oneof(
    { depthSize: 'large', withCrossShrink: true },
    fc.oneof(strings, fc.constantFrom('null', 'true', '-1.5e3')),
    tie('array'),
    tie('object'),
  ),
}));

/** Depth as it is defined: brackets outside of strings, one by one. */
function depthOf(text: string): number {
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/gs, '""');
  let [depth, deepest] = [0, 0];
  for (const char of bare) {
    if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const nested = (depth: number, inside = '1') => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;

describe('whether JSON is deeper than a limit', () => {
  test('is known of its text alone, and of its text and value, at each limit', () => {
    const seen = { deeper: 0, not: 0, hidden: 0 };
    fc.assert(
      fc.property(json, (text) => {
        const [depth, value] = [depthOf(text), JSON.parse(text)];
        if (depthOf(JSON.stringify(value)) < depth) seen.hidden += 1;
        for (let limit = 0; limit <= depth + 2; limit += 1) {
          const expected = depth > limit;
          expect([limit, isDeeperParsed(value, text, limit)]).toEqual([limit, expected]);
          expect([limit, isDeeper(text, limit)]).toEqual([limit, expected]);
          seen[expected ? 'deeper' : 'not'] += 1;
        }
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(seen.deeper, seen.not, seen.hidden)).toBeGreaterThan(50);
  });

  test.each([
    ['as deep as may be', nested(deepestReply), false],
    ['one deeper', nested(deepestReply + 1), true],
    ['one deeper under a name that comes twice', `{"a":${nested(deepestReply)},"a":1}`, true],
    ['as deep as may be under a name that comes twice', `{"a":${nested(deepestReply - 1)},"a":1}`, false],
    ['many more items than levels', `[${'{"a":[]},'.repeat(2000)}1]`, false],
    ['many brackets in a string', JSON.stringify(['['.repeat(5000)]), false],
    ['strings that close, and levels that do not', `${'["]",'.repeat(501)}1${']'.repeat(501)}`, true],
    ['a million levels', nested(1_000_000), true],
  ])('%s', (_, text, expected) => {
    expect(isDeeper(text)).toBe(expected);
    expect(isDeeperParsed(JSON.parse(text), text)).toBe(expected);
  });

  test('what other code has added to every object makes no difference', () => {
    const { prototype } = Object as unknown as { prototype: Record<string, unknown> };
    prototype.added = { more: {} };
    try {
      const text = `[${'{},'.repeat(600)}{"a":${nested(499)},"a":1}]`;
      expect(isDeeperParsed(JSON.parse(text), text)).toBe(true);
    } finally {
      delete prototype.added;
    }
  });
});

/** Values as they are defined: every member, and the whole. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 1);
}

describe('JSON text has more values than allowed', () => {
  test('only if it has, and always when it has twice as many', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1), fc.nat({ max: 30 }), (value, space, limit) => {
        const text = JSON.stringify(value, null, space);
        const values = valuesIn(JSON.parse(text));
        if (isFuller(text, limit)) expect(values).toBeGreaterThanOrEqual(limit / 2);
        if (values > 2 * limit + 1) expect(isFuller(text, limit)).toBe(true);
      }),
    );
  });

  test.each(['{}', '0', '""', '"a,b,c,[{"'])('when it has %s ten times, and not when a text has', (item) => {
    expect(isFuller(`[${Array(10).fill(item).join(',')}]`, 9)).toBe(true);
    expect(isFuller(JSON.stringify([Array(10).fill(item).join(',')]), 9)).toBe(false);
  });

  test('whatever a list of 50,000 items with 8 fields has', () => {
    const item = JSON.stringify({ id: 1, a: 'x,y', b: null, c: true, d: 'z', e: 1.5, f: '', g: '[]' });
    expect(isFuller(`[${Array(50_000).fill(item).join(',')}]`)).toBe(false);
    expect(
      isFuller(
        `[${Array(mostValues + 1)
          .fill('0')
          .join(',')}]`,
      ),
    ).toBe(true);
  });
});
