import { expect, it } from 'vitest';
import { unsendable } from '../../src/client/credential-problems.ts';
import { nameInCommands } from '../../src/options/spelling.ts';

it.each([
  ['key\n', 'whitespace as its last character', /echo adds a line break/],
  ['\ufeffkey', 'whitespace as character 1', /give the value alone/],
  ['key\u{1f511}', 'the character U+1F511 as its last character', /give the value alone/],
  ['Bearer key', 'whitespace as character 7', /remove "Bearer"/],
])('reports the first invalid character of %j, with a hint', (value, problem, hint) => {
  expect(unsendable('API key', value, nameInCommands)).toEqual({
    problem,
    hint: expect.stringMatching(hint),
  });
});

it('accepts a credential of printable ASCII without spaces', () => {
  expect(unsendable('API key', '!rg_1234567890~', nameInCommands)).toBeNull();
});
