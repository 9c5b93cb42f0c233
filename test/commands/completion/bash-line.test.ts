import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bashLine, bashQuoted } from '../../../src/commands/completion/bash-line.ts';
import { bashOutput } from '../../../src/commands/completion/complete.ts';

/** The default COMP_WORDBREAKS of bash. */
const breaks = ' \t\n"\'@><=;|&(:';

/** Text that may come from the service: no control characters, and many characters that are special in shells. */
const text = fc
  .array(fc.constantFrom(...'$`"\'\\!(){}[]<>|&;*?~#=:@%^ ,ab-', 'é', '日', '😀'), {
    minLength: 1,
    maxLength: 12,
  })
  .map((chars) => chars.join(''));

describe('bashLine', () => {
  it.each([
    ['rungate run tri', ['rungate', 'run', 'tri'], 0],
    ['rungate run ', ['rungate', 'run', ''], 0],
    ['  rungate   run', ['rungate', 'run'], 0],
    ['rungate --format=js', ['rungate', '--format=js'], 9],
    ['rungate --format=', ['rungate', '--format='], 9],
    ['rungate --scope ci:tr', ['rungate', '--scope', 'ci:tr'], 3],
    ['rungate --on cancelled=fa', ['rungate', '--on', 'cancelled=fa'], 10],
    ['rungate --fault reset@run', ['rungate', '--fault', 'reset@run'], 5],
    ['rungate a\\ b\\=c', ['rungate', 'a b=c'], 0],
    ['rungate "a b', ['rungate', 'a b'], 0],
    ["rungate 'a:b", ['rungate', 'a:b'], 0],
    ['rungate --x="a b', ['rungate', '--x=a b'], 4],
    ['rungate "a" \'b\' c"d"e', ['rungate', 'a', 'b', 'cde'], 1],
    ['rungate "\\$a\\b', ['rungate', '$a\\b'], 0],
    ['rungate $(id', ['rungate', '$(id'], 2],
  ])('splits %j, and finds the part after the last word break', (line, words, kept) => {
    const found = bashLine(line, breaks);
    expect(found.words).toEqual(words);
    if (found.simple) expect(found.kept).toBe(kept);
  });

  it('returns the position of each word', () => {
    const line = 'rungate  mock exec -- "a b" gi';
    expect(bashLine(line, breaks).starts.map((at) => line.slice(at))).toEqual([
      line,
      'mock exec -- "a b" gi',
      'exec -- "a b" gi',
      '-- "a b" gi',
      '"a b" gi',
      'gi',
    ]);
  });

  it('does not break words at : and = if the user removed them from COMP_WORDBREAKS', () => {
    expect(bashLine('rungate --scope ci:tr', ' \t\n').kept).toBe(0);
  });
});

describe('bashQuoted', () => {
  it.each(['', '"', "'"] as const)('quotes text within %j so that it reads back unchanged', (quote) =>
    fc.assert(
      fc.property(text, (one) => {
        const { words } = bashLine(`rungate ${quote}${bashQuoted(one, quote)}${quote} end`, breaks);
        expect(words).toEqual(['rungate', one, 'end']);
      }),
    ),
  );

  it('returns one word in which bash expands nothing', () => {
    const quotes = ['', '"', "'"] as const;
    const samples = fc.sample(fc.tuple(text, fc.constantFrom(...quotes)), 300);
    const quoted = samples.map(([one, quote]) => `${quote}${bashQuoted(one, quote)}${quote}`);
    const out = execFileSync('bash', ['-c', `printf '%s\\0' ${quoted.join(' ')}`], { encoding: 'utf8' });
    expect(out.split('\0').slice(0, -1)).toEqual(samples.map(([one]) => one));
  });
});

describe('the output for bash', () => {
  const output = (line: string, ...values: string[]) =>
    bashOutput({ kind: 'words', candidates: values.map((value) => ({ value })) }, bashLine(line, breaks), '')
      .split('\n')
      .slice(1, -1);

  it.each<[line: string, value: string, expected: string[]]>([
    ['rungate tr', 'trigger', ['trigger']],
    ['rungate x', 'trigger', []],
    ['rungate ci:tr', 'ci:trigger', ['trigger']],
    ['rungate ', 'ci:trigger', ['ci:trigger']],
    ['rungate ', '$(touch x)', ['\\$\\(touch\\ x\\)']],
    ['rungate "', '$(touch x)', ['\\$(touch x)']],
    ["rungate '", "it's", ["it'\\''s"]],
    ['rungate "', 'a!b', [`a"'!'"b`]],
    ['rungate a\\ ', 'a b:c', ['a\\ b:c']],
    // bash closes the quote itself, but not after a literal one.
    ['rungate "', 'a "b"', ['a \\"b\\""']],
    ["rungate '", "a'", [`a'\\'''`]],
    // If the quotes are closed, there is no output.
    ['rungate "ab"c', 'abcd', []],
  ])('at %j for the value %j is %j', (line, value, expected) => {
    expect(output(line, value)).toEqual(expected);
  });

  it('completes the word to the value, whatever part of it was typed', () =>
    fc.assert(
      fc.property(text, fc.nat(12), (value, length) => {
        const typed = bashQuoted([...value].slice(0, length).join(''), '');
        const line = `rungate ${typed}`;
        const [printed = ''] = output(line, value);
        const { kept, words } = bashLine(line, breaks);
        // The part that bash keeps, followed by the output.
        const left = words[1]?.slice(0, kept) ?? '';
        expect(bashLine(`rungate ${bashQuoted(left, '')}${printed} end`, breaks).words[1]).toBe(value);
      }),
    ));
});
