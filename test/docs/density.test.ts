import { describe, expect, it } from 'vitest';
// @ts-expect-error a script, which has no types
import { figuresOf, kindOf, sumOf } from '../../scripts/docs-figures.mjs';
import { pages, textOf } from './pages.ts';

interface Figures {
  words: number;
  samples: number;
  sentences: number;
  long: number;
  itemSemicolons: number;
}
const figures = (page: string): Figures => figuresOf(textOf(page));
const sum = (...kinds: string[]): Figures =>
  sumOf(pages.filter((page) => kinds.includes(kindOf(page))).map(figures));
const leading = pages.filter((page) => ['start', 'how-to'].includes(kindOf(page)));

describe('the pages of docs/start and docs/how-to', () => {
  it('have at most 15,000 words, and at least 15 samples of code for every 1,000', () => {
    const { words, samples } = sum('start', 'how-to');
    expect(words).toBeLessThanOrEqual(15_000);
    expect(samples / words).toBeGreaterThanOrEqual(15 / 1000);
  });

  it('have no sentence above 25 words', () => {
    expect(leading.filter((page) => figures(page).long > 0)).toEqual([]);
  });

  it('each have a sample of code for every 150 words', () => {
    expect(leading.filter((page) => figures(page).samples * 150 < figures(page).words)).toEqual([]);
  });
});

it('the pages for users have at most 35,000 words', () => {
  expect(sum('start', 'how-to', 'reference', 'why').words).toBeLessThanOrEqual(35_000);
});

it('at most 2 % of the sentences of any kind of page are above 25 words', () => {
  for (const kind of new Set(pages.map((page) => String(kindOf(page)))))
    expect(sum(kind).long / sum(kind).sentences, kind).toBeLessThanOrEqual(0.02);
});

it('no page has a semicolon in a list', () => {
  expect(pages.filter((page) => figures(page).itemSemicolons > 0)).toEqual([]);
});

it('counts words without code, samples, long sentences, and semicolons in lists', () => {
  const long = `${'word '.repeat(26)}end.`;
  const page = `# Title\n\n${long} A short one: \`some code\`.\n\n- one; two\n\n\`\`\`sh\nnot; counted\n\`\`\`\n`;
  expect(figuresOf(page)).toMatchObject({ samples: 1, long: 1, semicolons: 1, itemSemicolons: 1, words: 34 });
});
