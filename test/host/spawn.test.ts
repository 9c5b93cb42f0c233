import fc from 'fast-check';
import { expect, it } from 'vitest';
import { batchLine } from '../../src/host/spawn.ts';

// `npm run test:windows` runs such lines in Wine's cmd, which expands variables once more than that of Windows does.
it.each([
  ['%PATH%', '"%%cd:~,%PATH%%cd:~,%"'],
  ['100%', '"100%%cd:~,%"'],
  ['5" & 6', '"5"" & 6"'],
  ['a\\"b\\', '"a\\\\""b\\\\"'],
  ['', '""'],
])('an argument of a batch file that is %s is written as %s', (argument, written) => {
  expect(batchLine('C:\\a b\\gate.cmd', [argument])).toBe(`"C:\\a b\\gate.cmd" ${written}`);
});

it.each(['a\nb', 'a\r\nb'])('a batch file cannot receive a line break: %j', (argument) => {
  expect(() => batchLine('gate.cmd', [argument])).toThrow('cannot receive an argument with a line break');
});

/** The variables that an attacker would like: one for each name that an argument may have between percent signs. */
const variables: Readonly<Record<string, string>> = {
  CD: 'C:\\x',
  A: '" & evil & "',
  'A"': '&',
  '^': '&',
  ' ': '"',
};

/** Expands variables in a command line as cmd does: `%name%`, and `%name:~from,count%`, which is empty without numbers. */
function expanded(line: string): string {
  let text = '';
  for (let at = 0; at < line.length; at += 1) {
    const [whole = '', name = '', part] = /^%([^%:]+)(:[^%]*)?%/.exec(line.slice(at)) ?? [];
    const value = variables[name.toUpperCase()];
    if (value === undefined) {
      text += line[at];
    } else {
      text += part === ':~,' ? '' : value;
      at += whole.length - 1;
    }
  }
  return text;
}

/** Returns the operators outside of quotes, which would start or redirect a command. */
function operators(line: string): string[] {
  const outside = line.split('"').filter((_, index) => index % 2 === 0);
  return outside.flatMap((text) => text.match(/[&|<>()^]/g) ?? []);
}

/** Splits a command line as programs on Windows do. Microsoft: "Parsing C command-line arguments". */
function parsed(line: string): string[] {
  const args: string[] = [];
  let [arg, quotes] = [null as string | null, false];
  for (let at = 0; at < line.length; at += 1) {
    const [slashes = ''] = /^\\*(?=")/.exec(line.slice(at)) ?? [];
    arg = slashes === '' ? arg : (arg ?? '') + '\\'.repeat(slashes.length >> 1);
    at += slashes.length;
    const char = line[at] ?? '';
    if (char === '"' && slashes.length % 2 === 0) {
      const doubled = quotes && line[at + 1] === '"';
      [arg, quotes] = [(arg ?? '') + (doubled ? '"' : ''), doubled || !quotes];
      at += Number(doubled);
    } else if (!quotes && /[ \t]/.test(char)) {
      if (arg !== null) args.push(arg);
      arg = null;
    } else {
      arg = (arg ?? '') + char;
    }
  }
  return arg === null ? args : [...args, arg];
}

it('no argument of a batch file becomes a command or another argument, whatever it contains', () => {
  const characters = fc.constantFrom(...'""%%%%\\\\^&|<>()!:~,;= \tACDacd019é');
  const words = fc.constantFrom(
    '%A%',
    '%a"%',
    '%^%',
    '%cd:~,%',
    '%cd%',
    '%%',
    '"%A%"',
    '\\"',
    '&',
    '" & evil',
  );
  const argument = fc.array(fc.oneof(characters, words), { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 5 }), (args) => {
      const line = expanded(batchLine('C:\\a b\\gate.cmd', args));
      expect(operators(line)).toEqual([]);
      expect(parsed(line)).toEqual(['C:\\a b\\gate.cmd', ...args]);
    }),
    { numRuns: 500 },
  );
});
