import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { columnsOf, wrapWords } from '../../src/output/text.ts';

describe('wrapWords', () => {
  it('breaks between words and indents the following lines', () =>
    expect(wrapWords('  → set this, or that', 14, '    ')).toEqual(['  → set this,', '    or that']));

  it('does not break text without spaces', () =>
    expect(wrapWords('see https://service.example.com/a/b', 10, '  ')).toEqual([
      'see',
      '  https://service.example.com/a/b',
    ]));

  it('does not count the columns of colour sequences', () =>
    expect(wrapWords('\u001b[31merror:\u001b[39m it is red', 16, '  ')).toEqual([
      '\u001b[31merror:\u001b[39m it is red',
    ]));

  it('does not move a CI command to the start of a line', () => {
    expect(wrapWords('aaaa ::error::x', 6, '  ')).toEqual(['aaaa', '  : :error::x']);
  });

  it('loses nothing and fits if the words do', () =>
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }),
        fc.integer({ min: 20 }),
        (words, columns) => {
          const lines = wrapWords(words.join(' '), columns, '  ');
          expect(lines.map((line) => line.trim()).join(' ')).toBe(words.join(' '));
          for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
        },
      ),
    ));
});

it('columnsOf counts at least as many columns as ora, which would clear too many lines otherwise', () => {
  // All of the scripts, symbols and emoji that have characters of different widths; of the rest every seventh.
  const mixed = (code: number) => code < 0x3400 || (code >= 0xfe00 && code < 0x10000) || code >> 12 === 0x1f;
  const wider = Array.from({ length: 0x40000 }, (_, code) => code)
    .filter((code) => code >= 0x20 && (code < 0xd800 || code > 0xdfff) && (mixed(code) || code % 7 === 0))
    .map((code) => String.fromCodePoint(code))
    .filter((character) => stringWidth(character) > columnsOf(character));
  expect(wider).toEqual([]);
});
