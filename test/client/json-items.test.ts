import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { itemTexts, membersOf } from '../../src/client/json-text.ts';
import { readPage } from '../without-redaction.ts';

const split = (text: string) => itemTexts(text, readPage(JSON.parse(text)) ?? { items: [] });

/** Any list, as a server may lay it out: bare or among other fields, packed, indented, or with odd spaces. */
const anyList = fc
  .record({
    items: fc.array(fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double())))),
    before: fc.dictionary(
      fc.string().filter((key) => key !== 'items'),
      fc.jsonValue(),
    ),
    after: fc.option(fc.jsonValue()),
    shape: fc.constantFrom('bare', 'object'),
    layout: fc.constantFrom('packed', 'indented', 'tabs', 'spaced', 'broken', 'ends'),
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

describe("a list's items as text", () => {
  test('are the same values, each in one line, whatever the list and its layout', () => {
    fc.assert(
      fc.property(anyList, (text) => {
        const page = readPage(JSON.parse(text)) ?? { items: [] };
        const { items } = page;
        const texts = itemTexts(text, page);
        expect(texts.map((item) => JSON.parse(item))).toEqual(items);
        expect(texts.filter((item) => /[\r\n]/.test(item))).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  test('are those of JSON.stringify, where that packed or indented them', () => {
    const lists = fc.tuple(fc.array(fc.jsonValue()), fc.constantFrom(0, 2, '\t'), fc.boolean());
    fc.assert(
      fc.property(lists, ([items, space, bare]) => {
        const text = JSON.stringify(bare ? items : { totalCount: items.length, items, page: 1 }, null, space);
        expect(split(text)).toEqual(items.map((item) => JSON.stringify(item)));
      }),
    );
  });

  test('keep every digit and every escape', () => {
    const items = [
      '{"id":12345678901234567890,"total":10.50,"exp":1E+2,"minus":-0.0}',
      '{"t":"\\u0041\\/\\"}, {\\\\","u":"\\ud83d\\ude00"}',
      '12345678901234567890',
    ];
    expect(split(`{"items":[${items.join(',')}],"page":1}`)).toEqual(items);
    expect(split(`{"items":[${items.join(' ,\n')}\n],"page":1}`)).toEqual(items);
  });

  test.each([
    ['{"items":[]}', []],
    ['[]', []],
    [' [ ] ', []],
    ['{"items":[{}]}', ['{}']],
    ['{"items":[{},{}]}', ['{}', '{}']],
    // Braces in a text, in an item and beside the items.
    ['{"items":[{"a":"}"},{"a":"{"}]}', ['{"a":"}"}', '{"a":"{"}']],
    ['{"items":[{"a":"},{"},{"b":1}]}', ['{"a":"},{"}', '{"b":1}']],
    ['{"items":[{"a":{}},{"b":1}]}', ['{"a":{}}', '{"b":1}']],
    ['{"meta":{},"items":[{"b":1}]}', ['{"b":1}']],
    ['{"items":[{"b":1}],"meta":{"items":[{"c":1}]}}', ['{"b":1}']],
    ['{"items":[{"b":1}],"note":"}"}', ['{"b":1}']],
    // Of a name that comes twice the last one counts, and a name may be written with escapes.
    ['{"items":[1],"items":[{"b":1}]}', ['{"b":1}']],
    ['{"items":[{"b":1}],"items":[]}', []],
    ['{"\\u0069tems":[{"b":1}]}', ['{"b":1}']],
    // Spaces as Python writes them.
    ['{"items": [{"a": 1, "b": "x, \\"y\\": z"}, {"a": 2}]}', ['{"a":1,"b":"x, \\"y\\": z"}', '{"a":2}']],
    ['{"items":[{"a":"\\\\"},{"a":"\\\\\\""}]}', ['{"a":"\\\\"}', '{"a":"\\\\\\""}']],
  ])('of %s are %j', (text, items) => {
    expect(split(text)).toEqual(items);
  });

  test('may be text of any length', () => {
    const text = JSON.stringify('\n'.repeat(10_000_000));
    expect(split(`{"items": [{"long": ${text}}]}`)[0] === `{"long":${text}}`).toBe(true);
  });

  test('are never fewer than the items that were read', () => {
    expect(() => itemTexts('{"items":[1]}', { items: [1, 2], field: 'items' })).toThrow(
      'read 2 items, but found 1 in the text',
    );
  });
});

describe("an object's members as text", () => {
  test('are the same values by the same names', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1), (value, space) => {
        const members = membersOf(JSON.stringify(value, null, space));
        expect(members.map(([name, text]) => [name, JSON.parse(text)])).toEqual(
          Object.entries(JSON.parse(JSON.stringify(value))),
        );
      }),
    );
  });

  test.each(['[1]', '7', '"text"', 'null'])('of %s, which is no object, are none', (text) => {
    expect(membersOf(text)).toEqual([]);
  });
});
