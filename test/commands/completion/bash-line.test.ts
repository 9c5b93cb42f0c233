import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bashOutput } from '../../../src/commands/completion/complete.ts';
import { bashLine } from '../../../src/commands/completion/line.ts';

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
    ['rungate a\\ b\\=c', ['rungate', 'a b=c'], null],
    ['rungate "a b', ['rungate', 'a b'], 0],
    ["rungate 'a:b", ['rungate', 'a:b'], 0],
    ['rungate --x="a b', ['rungate', '--x=a b'], 4],
    ['rungate "a" \'b\' c"d"e', ['rungate', 'a', 'b', 'cde'], null],
    ['rungate "\\$a\\b', ['rungate', '$a\\b'], null],
    ['rungate $(id', ['rungate', '$(id'], 2],
  ])('splits %j, and finds the part after the last word break', (line, words, kept) => {
    expect(bashLine(line, breaks)).toMatchObject({ words, kept });
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
    ['rungate "ci', 'ci:trigger', ['ci:trigger']],
    ['rungate --scope="ci', '--scope=ci:trigger', ['ci:trigger']],
    // bash would expand them, or split the line at them.
    ...['$(touch x)', '`touch x`', "it's", 'a "b"', 'a!b', 'a b', 'a\\', '*', '~root', '{x,y}', 'a;b'].map(
      (value): [string, string, string[]] => ['rungate ', value, []],
    ),
    // If the quotes are closed, there is no output.
    ['rungate "ab"c', 'abcd', []],
  ])('at %j for the value %j is %j', (line, value, expected) => {
    expect(output(line, value)).toEqual(expected);
  });

  it('is a word that bash does not change', () => {
    const printed = fc.sample(text, 500).flatMap((value) => output('rungate ', value));
    expect(printed).not.toEqual([]);
    const read = execFileSync('bash', ['-c', `printf '%s\\n' ${printed.join(' ')}`], { encoding: 'utf8' });
    expect(read).toBe(printed.map((word) => `${word}\n`).join(''));
  });
});
