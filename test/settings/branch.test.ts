import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchBranch } from '../../src/settings/project-file.ts';

test.each<[string | null, string[], string | null]>([
  ['main', ['*', 'main', 'm*'], 'main'],
  ['refs/heads/main', ['main'], 'main'],
  ['refs/tags/v1.0', ['v*'], 'v*'],
  ['release/1.2', ['*', 'release/*', 'release/1.*'], 'release/1.*'],
  ['feature/a/b', ['*'], '*'],
  ['Main', ['main'], null],
  ['a.b', ['a?b', 'a[.]b'], null],
  ['__proto__', ['__proto__'], '__proto__'],
  [null, ['main', 'm*'], null],
  [null, ['main', '*'], '*'],
])('the pattern for the ref %j among %j is %j', (ref, patterns, wanted) =>
  expect(matchBranch(patterns, ref)).toBe(wanted),
);

const pieces = fc.array(fc.constantFrom('a', 'b', '/', '*'), { maxLength: 7 }).map((parts) => parts.join(''));

test('a pattern matches the same refs as the equivalent regular expression', () => {
  fc.assert(
    fc.property(pieces, pieces, (pattern, text) => {
      const ref = text.replaceAll('*', 'c');
      const expected = new RegExp(`^${pattern.split('*').join('.*')}$`).test(ref);
      expect(matchBranch([pattern], ref) !== null).toBe(expected);
    }),
    { numRuns: 800 },
  );
});

test('the exact name takes precedence over every other pattern', () => {
  const ref = pieces.map((text) => text.replaceAll('*', 'c'));
  fc.assert(
    fc.property(ref, fc.array(pieces), (name, others) => {
      expect(matchBranch([...others.filter((one) => one !== name), name], name)).toBe(name);
    }),
  );
});

test('matches patterns quickly that would stall a backtracking matcher', () => {
  expect(matchBranch([`${'*a'.repeat(2000)}b`], 'a'.repeat(100_000))).toBeNull();
});
