import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shellQuoted, windowsQuoted } from '../../src/commands/shell-quoted.ts';
import { sanitize } from '../../src/sanitize.ts';

it('a quoted argument is one argument of sh, whatever it contains', () => {
  const printable = fc.string({ unit: 'grapheme-ascii', minLength: 1 });
  const texts = [
    ...fc.sample(printable, 200),
    "a'b",
    '$(id)',
    '`id`',
    'a b',
    '*',
    '-n',
    ';',
    '"',
    '\\',
    '::rS?hyp',
  ];
  const out = execFileSync('sh', [
    '-c',
    `printf '%s\\n' ${texts.map((text) => shellQuoted(text)).join(' ')}`,
  ]);
  // `::` would be a command of a CI system in a log, wherever it is printed.
  expect(out.toString()).toBe(texts.map((text) => `${sanitize(text)}\n`).join(''));
});

it.each([
  ['run_1', 'run_1'],
  ['C:\\ci\\r.xml', 'C:\\ci\\r.xml'],
  ['shop / checkout', '"shop / checkout"'],
  ['', null],
  ['%PATH%', null],
  ['a"b', null],
  ['a & b', null],
  ['$(id)', null],
  ['a b\\', null],
])('%j is for cmd and PowerShell: %j', (text, quoted) => expect(windowsQuoted(text)).toBe(quoted));
