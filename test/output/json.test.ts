import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderJson, renderResponse } from '../../src/output/json.ts';

describe('renderJson', () => {
  test('writes one line for machines and indents for people', () => {
    expect(renderJson({ a: [1], b: null }, 0)).toBe('{"a":[1],"b":null}\n');
    expect(renderJson({ a: [1] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}\n');
  });

  test('writes undefined as null', () => expect(renderJson(undefined, 0)).toBe('null\n'));

  test.each(['valueOf', 'toString', 'constructor', 'hasOwnProperty', '__proto__'])(
    'writes a field with the name %s',
    (name) => expect(renderJson(JSON.parse(`{"${name}":1}`), 0)).toBe(`{"${name}":1}\n`),
  );

  test('writes any value in one line that parses to the same value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' })), (value) => {
        const text = renderJson(value, 0);
        expect(text.split('\n')).toHaveLength(2);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('renderResponse', () => {
  test.each([
    '10.50',
    '0.10',
    '1e400',
    '1E5',
    '-0',
    '9007199254740993',
    '12345678901234567890.123456789',
    '[1.0,2.00]',
    '{"id":9007199254740993,"total":10.50}',
  ])('keeps the digits of %s', async (text) => expect(await renderResponse(text, 0)).toBe(`${text}\n`));

  test('reformats the JSON', async () => {
    expect(await renderResponse(' {"a" :\n1.50 } ', 0)).toBe('{"a":1.50}\n');
    expect(await renderResponse('{"a":1.50}', 2)).toBe('{\n  "a": 1.50\n}\n');
  });

  test('escapes CI commands and control characters without changing the value', async () => {
    const text = await renderResponse(JSON.stringify({ name: '##vso[x]\u202e' }), 0);
    expect(text).toBe('{"name":"\\u0023\\u0023vso[x]\\u202e"}\n');
  });

  test.each(['null', 'true', '"text"', '[]', '{}'])('accepts %s', async (text) => {
    expect(await renderResponse(text, 0)).toBe(`${text}\n`);
  });

  test('writes any value as JSON that parses to the same value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.constantFrom(0 as const, 2 as const), async (value, indent) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(JSON.parse(await renderResponse(text, indent)))).toBe(text);
      }),
    );
  });

  test.each([
    '{"__proto__":{"a":1},"b":2}',
    '{"toString":1,"constructor":2}',
    '{"isLosslessNumber":true,"value":"1"}',
  ])('keeps every key of %s', async (text) => expect(await renderResponse(text, 0)).toBe(`${text}\n`));
});
