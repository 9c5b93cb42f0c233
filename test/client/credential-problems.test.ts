import { expect, it } from 'vitest';
import { unsendable } from '../../src/client/credential-problems.ts';

it.each([
  ['key\n', 'a line break as its last character', /echo adds a line break/],
  ['key\r', 'a carriage return as its last character', /CRLF/],
  ['k ey', 'a space as character 2', /without whitespace$/],
  ['\u00a0key', 'a no-break space as its first character', /without whitespace$/],
  ['\ufeffkey', 'a byte order mark as its first character', /remove the byte order mark/],
  ['key\u{1f511}', 'the character U+1F511 as its last character', /copy it from the service again/],
  ['Bearer key', 'a space as character 7', /remove "Bearer"/],
])('reports the first invalid character of %j, with a hint', (value, problem, hint) => {
  expect(unsendable('API key', value)).toEqual({
    problem,
    hint: expect.stringMatching(hint),
  });
});

it('accepts a credential of printable ASCII without spaces', () => {
  expect(unsendable('API key', '!rg_1234567890~')).toBeNull();
});
