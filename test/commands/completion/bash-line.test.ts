import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bashLine, bashQuoted } from '../../../src/commands/completion/bash-line.ts';
import { bashReply } from '../../../src/commands/completion/complete.ts';

/** COMP_WORDBREAKS as bash has it. */
const breaks = ' \t\n"\'@><=;|&(:';

/** What may come from the service: any text without control characters, with a taste for what shells act on. */
const text = fc
  .array(fc.constantFrom(...'$`"\'\\!(){}[]<>|&;*?~#=:@%^ ,ab-', 'é', '日', '😀'), {
    minLength: 1,
    maxLength: 12,
  })
  .map((chars) => chars.join(''));

describe('a line of bash', () => {
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
  ])('%j is taken apart, and bash replaces what follows its last word break', (line, words, kept) => {
    const found = bashLine(line, breaks);
    expect(found.words).toEqual(words);
    if (found.simple) expect(found.kept).toBe(kept);
  });

  it('knows where each word begins', () => {
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

  it('leaves : and = alone where a user has taken them out of COMP_WORDBREAKS', () => {
    expect(bashLine('rungate --scope ci:tr', ' \t\n').kept).toBe(0);
  });
});

describe('a quoted text', () => {
  it.each(['', '"', "'"] as const)('inside %j is read back as it was', (quote) =>
    fc.assert(
      fc.property(text, (one) => {
        const { words } = bashLine(`rungate ${quote}${bashQuoted(one, quote)}${quote} end`, breaks);
        expect(words).toEqual(['rungate', one, 'end']);
      }),
    ),
  );

  it('is one word to bash itself, which expands nothing in it', () => {
    const quotes = ['', '"', "'"] as const;
    const samples = fc.sample(fc.tuple(text, fc.constantFrom(...quotes)), 300);
    const quoted = samples.map(([one, quote]) => `${quote}${bashQuoted(one, quote)}${quote}`);
    const out = execFileSync('bash', ['-c', `printf '%s\\0' ${quoted.join(' ')}`], { encoding: 'utf8' });
    expect(out.split('\0').slice(0, -1)).toEqual(samples.map(([one]) => one));
  });
});

describe('what bash is told', () => {
  const reply = (line: string, ...values: string[]) =>
    bashReply({ kind: 'words', candidates: values.map((value) => ({ value })) }, bashLine(line, breaks), '')
      .split('\n')
      .slice(1, -1);

  it.each<[line: string, value: string, told: string[]]>([
    ['rungate tr', 'trigger', ['trigger']],
    ['rungate x', 'trigger', []],
    ['rungate ci:tr', 'ci:trigger', ['trigger']],
    ['rungate ', 'ci:trigger', ['ci:trigger']],
    ['rungate ', '$(touch x)', ['\\$\\(touch\\ x\\)']],
    ['rungate "', '$(touch x)', ['\\$(touch x)']],
    ["rungate '", "it's", ["it'\\''s"]],
    ['rungate "', 'a!b', [`a"'!'"b`]],
    ['rungate a\\ ', 'a b:c', ['a\\ b:c']],
    // bash closes the quote itself, but not after what looks like one.
    ['rungate "', 'a "b"', ['a \\"b\\""']],
    ["rungate '", "a'", [`a'\\'''`]],
    // Where the quotes are closed already, nothing is guessed.
    ['rungate "ab"c', 'abcd', []],
  ])('at %j for the value %j is %j', (line, value, told) => {
    expect(reply(line, value)).toEqual(told);
  });

  it('is a part of the word that makes the value, whatever was typed of it', () =>
    fc.assert(
      fc.property(text, fc.nat(12), (value, length) => {
        const typed = bashQuoted([...value].slice(0, length).join(''), '');
        const line = `rungate ${typed}`;
        const [told = ''] = reply(line, value);
        const { kept, words } = bashLine(line, breaks);
        // What bash leaves of the word, and what we give it.
        const left = words[1]?.slice(0, kept) ?? '';
        expect(bashLine(`rungate ${bashQuoted(left, '')}${told} end`, breaks).words[1]).toBe(value);
      }),
    ));
});
