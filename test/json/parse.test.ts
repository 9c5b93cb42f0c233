import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonNode, JsonSyntaxError, lineAndColumn, parseJson } from '../../src/json/parse.ts';

/** Returns the value of a node from its parts, as JSON.parse builds it. */
function build(node: JsonNode): unknown {
  if (node.kind === 'object')
    return Object.fromEntries(node.members.map(({ name, value }) => [name, build(value)]));
  return node.kind === 'array' ? node.elements.map(build) : node.value;
}

/** Returns where the text stops being JSON, or null; JSON.parse must agree that it is JSON. */
function errorIndex(text: string): number | null {
  let parsed: { value: unknown } | undefined;
  try {
    parsed = { value: JSON.parse(text) };
  } catch {
    // Checked below.
  }
  try {
    const node = parseJson(text);
    expect(parsed, text).toStrictEqual({ value: build(node) });
    expect(node.value).toStrictEqual(parsed?.value);
    expect(JSON.parse(node.text)).toStrictEqual(parsed?.value);
    return null;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    expect(parsed, text).toBeUndefined();
    return error.index;
  }
}

/** Text of the characters that mean something in JSON. */
const almostJson = fc
  .array(
    fc.constantFrom(
      ...'{}[],:" \n\t\r0123456789-+.eE\\/u\u0000\u001f\u00a0\ufeff\u2028'.split(''),
      ...['true', 'null', '"a"', '"__proto__":', '\\u0041', '\\"', '1.5', '-0', '[]', '{}', '"a":1,'],
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** JSON with one change. */
const changedJson = fc
  .tuple(fc.json(), fc.nat(), fc.nat(3), fc.constantFrom('', ',', '"', '}', ']', '\\', ' ', '0', 'x'))
  .map(([json, index, removed, added]) => {
    const start = index % (json.length + 1);
    return json.slice(0, start) + added + json.slice(start + removed);
  });

describe('parseJson', () => {
  test.each([
    [
      'any JSON',
      fc.oneof(
        fc.json(),
        fc.jsonValue().map((value) => JSON.stringify(value, null, 2)),
      ),
    ],
    ['text that resembles JSON', almostJson],
    ['JSON with a mistake', changedJson],
    ['any text', fc.string({ unit: 'binary' })],
  ])('accepts what JSON.parse accepts, with the same value: %s', (_what, texts) => {
    fc.assert(
      fc.property(texts, (text) => void errorIndex(text)),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['{', 1],
    ['{"a"', 4],
    ['{"a":', 5],
    ['"abc', 4],
    ['["a\nb"]', 3],
    ['["\\x"]', 2],
    ['["\\u12"]', 2],
    ['"\\', 1],
    ['01', 1],
    ['1.', 1],
    ['-', 0],
    ['[tru]', 1],
    ['[1 2]', 3],
    ['{"a":1,}', 7],
    ['[1,]', 3],
    ['[,1]', 1],
    ['{} {}', 3],
    ["{'a': 1}", 1],
    ['\ufeff{}', 0],
    ['', 0],
    ['[1}', 2],
    ['{"a":1]', 6],
  ])('says where %j stops being JSON', (text, index) => expect(errorIndex(text)).toBe(index));

  test.each(['1e400', '-0', '1.0', '10.50', '9007199254740993', '"\\u0041\\/"', '[1.0,{"a":2E+1}]'])(
    'keeps the text of %s',
    (text) => {
      expect(parseJson(` {"a" : ${text} } `).member('a')?.value.text).toBe(text);
    },
  );

  test('knows where each value and name is', () => {
    const json = '{"a": [1, "b"],\n "c": {} }';
    const root = parseJson(json);
    const [a, c] = root.members;
    const places = [a, c, a?.value, ...(a?.value.elements ?? [])].map((part) => part?.start ?? -1);
    expect(places.map((start) => json[start])).toEqual(['"', '"', '[', '1', '"']);
    expect(lineAndColumn(json, c?.start ?? -1)).toEqual({ line: 2, column: 2 });
    expect(json.slice(root.start, root.end)).toBe(json);
  });

  test('keeps repeated names, of which the last counts', () => {
    const root = parseJson('{"a":1,"b":[{"c":1,"\\u0063":2}],"a":3}');
    expect(root.members.map(({ name }) => name)).toEqual(['a', 'b', 'a']);
    expect(root.at(['a'])?.text).toBe('3');
    expect(root.repeated?.name).toBe('a');
    expect(parseJson('{"b":[{"c":1,"\\u0063":2}]}').repeated?.name).toBe('c');
    expect(parseJson('[{"c":1},{"c":2}]').repeated).toBeUndefined();
  });

  test('treats __proto__ and other inherited names as any other name', () => {
    const root = parseJson('{"__proto__":{"a":1},"toString":2}');
    expect(root.at(['__proto__', 'a'])?.value).toBe(1);
    expect(root.at(['toString'])?.value).toBe(2);
    expect(root.at(['constructor'])).toBeUndefined();
    expect(Object.hasOwn(root.value as object, '__proto__')).toBe(true);
  });

  test('finds values by names and indices', () => {
    const root = parseJson('{"a":[{"0":true}],"0":7}');
    expect(root.at(['a', '0', '0'])?.value).toBe(true);
    expect(root.at(['0'])?.value).toBe(7);
    for (const path of [
      ['a', '1'],
      ['a', '00'],
      ['a', '-1'],
      ['a', 'length'],
      ['0', '0'],
      ['a', ''],
    ])
      expect(root.at(path), path.join('/')).toBeUndefined();
  });

  const half = 32 * 1024;
  test.each<[string, string]>([
    ['64 KiB of open arrays', '['.repeat(2 * half)],
    ['64 KiB of open objects', '{"":'.repeat(half / 2)],
    ['a million nested arrays', '['.repeat(1e6) + ']'.repeat(1e6)],
    ['nested arrays with whitespace', '[ '.repeat(half) + '] '.repeat(half)],
    ['a long number', '9'.repeat(1e6)],
    ['a string of escapes', `"${'\\n'.repeat(1e6)}"`],
    ['an unterminated string of backslashes', `"${'\\'.repeat(1e6)}`],
    ['whitespace', ' '.repeat(1e6)],
    ['a long list with repeated names', `[${'{"a":1},'.repeat(2e5)}{"a":1,"a":2}]`],
  ])('reads %s as JSON.parse does', (_what, text) => {
    try {
      const root = parseJson(text);
      expect(JSON.parse(text)).toBeDefined();
      expect(root.repeated?.name).toBe(text.includes('"a":2') ? 'a' : undefined);
    } catch (error) {
      expect(error).toBeInstanceOf(JsonSyntaxError);
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
    }
  });
});
