import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { itemTexts, membersOf } from '../../src/json/text.ts';
import { readPage } from '../without-redaction.ts';

const split = (text: string) => itemTexts(text, readPage(JSON.parse(text)) ?? { items: [] });

/** Any list in any layout: bare or in an object, compact, indented, or with extra whitespace. */
const anyList = fc
  .record({
    items: fc.array(fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double())))),
    before: fc.dictionary(
      fc.string().filter((key) => key !== 'items'),
      fc.jsonValue(),
    ),
    after: fc.option(fc.jsonValue()),
    shape: fc.constantFrom('bare', 'object'),
    layout: fc.constantFrom('compact', 'indented', 'tabs', 'spaced', 'broken', 'ends'),
  })
  .map(({ items, before, after, shape, layout }) => {
    const value = shape === 'bare' ? items : { ...before, items, after };
    const text = JSON.stringify(value, null, { indented: 2, tabs: '\t' }[layout as string] ?? 0);
    if (layout === 'spaced' || layout === 'broken') {
      const space = layout === 'spaced' ? ' ' : ' \r\n\t';
      return text.replace(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (part) => `${space}${part}${space}`);
    }
    return layout === 'ends' ? `\n ${text}\r\n` : text;
  });

describe('itemTexts', () => {
  test('returns each item on one line, with the same value, for any list and layout', () => {
    fc.assert(
      fc.property(anyList, (text) => {
        const page = readPage(JSON.parse(text)) ?? { items: [] };
        const { items } = page;
        const texts = itemTexts(text, page);
        expect(texts.map((item) => JSON.parse(item))).toEqual(items);
        expect(texts.filter((item) => /[\r\n]/.test(item))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('preserves every digit and every escape', () => {
    const items = [
      '{"id":12345678901234567890,"total":10.50,"exp":1E+2,"minus":-0.0}',
      '{"t":"\\u0041\\/\\"}, {\\\\","u":"\\ud83d\\ude00"}',
      '12345678901234567890',
    ];
    expect(split(`{"items":[${items.join(',')}],"page":1}`)).toEqual(items);
    expect(split(`{"items":[${items.join(' ,\n')}\n],"page":1}`)).toEqual(items);
  });

  test.each([
    // The last of two duplicate names counts, and a name may contain escapes.
    ['{"items":[1],"items":[{"b":1}]}', ['{"b":1}']],
    ['{"items":[{"b":1}],"items":[]}', []],
    ['{"\\u0069tems":[{"b":1}]}', ['{"b":1}']],
  ])('splits %s into %j', (text, items) => {
    expect(split(text)).toEqual(items);
  });
});

describe('membersOf', () => {
  test('returns the same values under the same names', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1), (value, space) => {
        const members = membersOf(JSON.stringify(value, null, space));
        expect(members.map(([name, text]) => [name, JSON.parse(text)])).toEqual(
          Object.entries(JSON.parse(JSON.stringify(value))),
        );
      }),
    );
  });

  test.each(['[1]', '7', '"text"', 'null'])('returns no members for %s, which is not an object', (text) => {
    expect(membersOf(text)).toEqual([]);
  });
});
