import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Shell } from '../../../src/commands/completion/completes.ts';
import { bashLine, readLine, responseTo } from '../../../src/commands/completion/shells.ts';

/** The default COMP_WORDBREAKS of bash. */
const breaks = ' \t\n"\'@><=;|&(:';

/** Text that may come from the service: no control characters, and many characters that are special in shells. */
const text = fc
  .array(fc.constantFrom(...'$`"\'\\!(){}[]<>|&;*?~#=:@%^ ,ab-', 'é', '日', '😀', '’'), {
    minLength: 1,
    maxLength: 12,
  })
  .map((chars) => chars.join(''));

/** Returns the candidates for a line that ends at the cursor. */
function output(shell: Shell, line: string, ...values: string[]) {
  const { words, kept } = bashLine(line, breaks);
  const candidates = values.map((value) => ({ value }));
  const typed = { word: words.at(-1) ?? '', attached: '', kept };
  return responseTo(shell, { kind: 'words', candidates }, typed).split('\n').slice(1, -1);
}

describe('bashLine', () => {
  it.each([
    ['rungate run tri', ['rungate', 'run', 'tri'], 0],
    ['  rungate   run ', ['rungate', 'run', ''], 0],
    ['rungate --format=js', ['rungate', '--format=js'], 9],
    ['rungate --scope ci:tr', ['rungate', '--scope', 'ci:tr'], 3],
    ['rungate a\\ b\\=c', ['rungate', 'a b=c'], null],
    ["rungate 'a:b", ['rungate', 'a:b'], 0],
    ['rungate --x="a b', ['rungate', '--x=a b'], 4],
    ['rungate "a" \'b\' c"d"e', ['rungate', 'a', 'b', 'cde'], null],
    ['rungate "\\$a\\b', ['rungate', '$a\\b'], null],
    ['rungate $(id', ['rungate', '$(id'], 2],
  ])('splits %j, and finds the part after the last word break', (line, words, kept) => {
    expect(bashLine(line, breaks)).toMatchObject({ words, kept });
  });

  it('does not break words at : and = if the user removed them from COMP_WORDBREAKS', () => {
    expect(bashLine('rungate --scope ci:tr', ' \t\n').kept).toBe(0);
  });
});

it('reads the words of PowerShell from Base64', () => {
  const read = (words: string) => readLine('powershell', [Buffer.from(words).toString('base64')]).words;
  expect(read('run\nwait\n--on')).toEqual(['run', 'wait', '--on']);
  expect(read("it's é\n")).toEqual(["it's é", '']);
  expect(readLine('powershell', []).words).toEqual(['']);
});

const special = [
  '$(touch x)',
  '`touch x`',
  "it's",
  'a "b"',
  'a!b',
  'a b',
  'a\\',
  '*',
  '~root',
  '{x,y}',
  'a;b',
];

describe('the candidates for a shell that gets them unquoted', () => {
  it.each<[line: string, value: string, expected: string[]]>([
    ['rungate tr', 'trigger', ['trigger']],
    ['rungate x', 'trigger', []],
    ['rungate ci:tr', 'ci:trigger', ['trigger']],
    ['rungate "ci', 'ci:trigger', ['ci:trigger']],
    ['rungate --scope="ci', '--scope=ci:trigger', ['ci:trigger']],
    // bash would expand them, or split the line at them.
    ...special.map((value): [string, string, string[]] => ['rungate ', value, []]),
    // If the quotes are closed, there is no output.
    ['rungate "ab"c', 'abcd', []],
  ])('in bash, at %j for the value %j, are %j', (line, value, expected) => {
    expect(output('bash', line, value)).toEqual(expected);
  });

  it('are words that bash does not change', () => {
    const printed = fc.sample(text, 500).flatMap((value) => output('bash', 'rungate ', value));
    expect(printed).not.toEqual([]);
    const read = execFileSync('bash', ['-c', `printf '%s\\n' ${printed.join(' ')}`], { encoding: 'utf8' });
    expect(read).toBe(printed.map((word) => `${word}\n`).join(''));
  });

  it('are whole words for PowerShell, without characters that it interprets', () => {
    expect(output('powershell', 'rungate ci:tr', 'ci:trigger', 'runner:manage')).toEqual(['ci:trigger']);
    expect(output('powershell', 'rungate ', ...special, '@a', 'a,b', '‘a', '–a', 'reset@run')).toEqual([
      'reset@run',
    ]);
  });
});
