import { expect, it } from 'vitest';
import { unsendable } from '../../src/client/credential-problems.ts';
import { commandNames } from '../../src/hint-names.ts';

it.each([
  ['key\n', 'a line break as its last character', /echo ends its output with a line break/],
  ['key\r', 'a carriage return as its last character', /CRLF/],
  ['k ey', 'a space as character 2', /without white space$/],
  ['\u00a0key', 'a no-break space as its first character', /without white space$/],
  ['\ufeffkey', 'a byte order mark as its first character', /leave out the byte order mark/],
  ['key\u{1f511}', 'the character U+1F511 as its last character', /copy it again/],
  ['Bearer key', 'a space as character 7', /leave out "Bearer"/],
])('a credential of %j has a remedy for that character', (value, problem, hint) => {
  expect(unsendable('API key', value, commandNames)).toEqual({
    problem,
    hint: expect.stringMatching(hint),
  });
});

it('a credential of printable ASCII without spaces can be sent', () => {
  expect(unsendable('API key', '!rg_1234567890~', commandNames)).toBeNull();
});
