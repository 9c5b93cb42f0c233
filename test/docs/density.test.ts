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
