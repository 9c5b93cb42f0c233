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
