import { describe, expect, it } from 'vitest';
// @ts-expect-error a script, which has no types
import { figuresOf, kindOf } from '../../scripts/docs-figures.mjs';
import { pages, textOf } from './pages.ts';

const figures = (page: string): { long: number; itemSemicolons: number } => figuresOf(textOf(page));
const leading = pages.filter((page) => ['start', 'how-to'].includes(kindOf(page)));

describe('the pages of docs/start and docs/how-to', () => {
  it('have no sentence above 25 words', () => {
    expect(leading.filter((page) => figures(page).long > 0)).toEqual([]);
  });
});

it('no page has a semicolon in a list', () => {
  expect(pages.filter((page) => figures(page).itemSemicolons > 0)).toEqual([]);
});

it('counts words without code, samples, long sentences, and semicolons in lists', () => {
  const long = `${'word '.repeat(26)}end.`;
  const page = `# Title\n\n${long} A short one: \`some code\`.\n\n- one; two\n\n\`\`\`sh\nnot; counted\n\`\`\`\n`;
  expect(figuresOf(page)).toMatchObject({ samples: 1, long: 1, semicolons: 1, itemSemicolons: 1, words: 34 });
});
