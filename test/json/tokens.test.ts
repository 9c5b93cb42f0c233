import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compact, layOut, tokensOf } from '../../src/json/tokens.ts';

const layouts = [
  [0, { comma: ',', colon: ':', indent: '' }],
  [2, { comma: ',', colon: ': ', indent: '  ' }],
  ['\t', { comma: ',', colon: ': ', indent: '\t' }],
] as const;

describe('tokens', () => {
  test('are the text again when joined, whatever the text is', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.array(fc.constantFrom(...'{}[],:"\\ \n1a'.split(''))).map((chars) => chars.join('')),
    );
    fc.assert(fc.property(texts, (text) => tokensOf(text).join('') === text));
  });

  test('are strings, numbers, words, punctuation and whitespace', () => {
    expect(tokensOf('{"a\\"}": [-1.50,\n true]}{')).toEqual([
      '{',
      '"a\\"}"',
      ':',
      ' ',
      '[',
      '-1.50',
      ',',
      '\n ',
      'true',
      ']',
      '}',
      '{',
    ]);
    expect(tokensOf('"cut \\" off')).toEqual(['"cut \\" off']);
  });

  test.each(['"', '"\\', '"\\\\"', `"${'\\n'.repeat(1e6)}`, '"'.repeat(1e6)])(
    'of hostile text are found in time in proportion to its length',
    (text) => expect(tokensOf(text).join('') === text).toBe(true),
  );
});

describe('layouts', () => {
  test('are those of JSON.stringify', () => {
    const anySpace = fc.constantFrom(0, 1, 2, '\t');
    fc.assert(
      fc.property(fc.jsonValue(), anySpace, fc.constantFrom(...layouts), (value, space, [result, layout]) => {
        const json = JSON.stringify(value, null, space);
        expect(layOut(tokensOf(json), layout)).toBe(JSON.stringify(value, null, result));
        expect(compact(json)).toBe(JSON.stringify(value));
      }),
    );
  });
});
