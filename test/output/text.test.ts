import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { columnsOf, wrapWords } from '../../src/output/text.ts';

describe('text in lines of a terminal', () => {
  it('is broken between words, and goes on below its first word', () =>
    expect(wrapWords('  → set this, or that', 14, '    ')).toEqual(['  → set this,', '    or that']));

  it('keeps in one piece what has no space', () =>
    expect(wrapWords('see https://service.example.com/a/b', 10, '  ')).toEqual([
      'see',
      '  https://service.example.com/a/b',
    ]));

  it('counts no columns for colour', () =>
    expect(wrapWords('\u001b[31merror:\u001b[39m it is red', 16, '  ')).toEqual([
      '\u001b[31merror:\u001b[39m it is red',
    ]));

  it('does not bring a command of a CI to the start of a line', () => {
    expect(wrapWords('aaaa ::error::x', 6, '  ')).toEqual(['aaaa', '  : :error::x']);
  });

  it('loses nothing, and fits wherever there is a place to break', () =>
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

it('no character is wider for ora, which would clear too many lines', () => {
  const wider = Array.from({ length: 0x40000 }, (_, code) => code)
    .filter((code) => code >= 0x20 && (code < 0xd800 || code > 0xdfff))
    .map((code) => String.fromCodePoint(code))
    .filter((character) => stringWidth(character) > columnsOf(character));
  expect(wider).toEqual([]);
});
