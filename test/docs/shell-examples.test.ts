import { describe, expect, it } from 'vitest';
import { pages, textOf } from './pages.ts';
import { shellExamples } from './shell-examples.ts';
import { matches } from './stable-output.ts';

describe('the comparison of output', () => {
  it.each([
    ['a\nb', 'a\nc', false],
    ['a\n…\nd', 'a\nb\nc\nd', true],
    ['…\nd', 'a\nbd', false],
    ['a.c', 'abc', false],
  ])('matches the pattern %j with the output %j: %j', (shown, real, expected) => {
    expect(matches(shown, real)).toBe(expected);
  });
});

/** A page gives its reason beside each example that is not run. Fewer are better. */
const leftOut = 43;

it(`every example is run, except ${leftOut} for the reason that the page gives`, () => {
  const examples = pages.flatMap((page) => shellExamples(page, textOf(page)));
  const left = examples.flatMap(({ page, notRun }) => (notRun === null ? [] : [`${page}: ${notRun}`]));
  expect(left.length, left.join('\n')).toBeLessThanOrEqual(leftOut);
});
