import { describe, expect, it } from 'vitest';
// @ts-expect-error a script, which has no types
import { figuresOf, kindOf, sumOf } from '../../scripts/docs-figures.mjs';
import { pages, textOf } from './pages.ts';

describe.each(['start', 'how-to'])('the pages of docs/%s', (kind) => {
  const { words, samples, sentences, long, itemSemicolons } = sumOf(
    pages.filter((page) => kindOf(page) === kind).map((page) => figuresOf(textOf(page))),
  );

  it('have at least 15 samples of code for every 1,000 words', () => {
    expect(samples / words).toBeGreaterThanOrEqual(15 / 1000);
  });

  it('have more than 25 words in at most 2 % of the sentences', () => {
    expect(long / sentences).toBeLessThanOrEqual(0.02);
  });

  it('have no semicolon in a list', () => {
    expect(itemSemicolons).toBe(0);
  });
});

it('counts words without code, samples, long sentences, and semicolons in lists', () => {
  const long = `${'word '.repeat(26)}end.`;
  const page = `# Title\n\n${long} A short one: \`some code\`.\n\n- one; two\n\n\`\`\`sh\nnot; counted\n\`\`\`\n`;
  expect(figuresOf(page)).toMatchObject({ samples: 1, long: 1, semicolons: 1, itemSemicolons: 1, words: 34 });
});
